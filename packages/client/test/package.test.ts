// Tests the package as a bundler uses it: its dependencies, and the size of a small program.
import { globSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { describe, expect, test } from 'vitest'

const root = new URL('..', import.meta.url).pathname
const maxBytes = 6 * 1024

/** Returns the minified bundle of a program. */
async function bundle(program: string): Promise<string> {
  const entry = 'virtual:program'
  const built = await rolldown({
    input: entry,
    platform: 'browser',
    plugins: [
      {
        name: 'program',
        resolveId: (id) => (id === entry ? id : null),
        load: (id) => (id === entry ? { code: program, moduleSideEffects: true } : null),
      },
    ],
  })
  const { output } = await built.generate({ format: 'es', minify: true })
  await built.close()
  return output[0].code
}

test('it has no dependencies', () => {
  const manifest = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as Record<string, unknown>
  expect(Object.keys(manifest).filter((key) => /ependencies/.test(key) && key !== 'devDependencies')).toEqual(
    [],
  )
  expect(manifest['sideEffects']).toBe(false)
})

test('its source imports itself alone, and needs nothing of Node', () => {
  const files = globSync('src/**/*.ts', { cwd: root })
  expect(files.length).toBeGreaterThan(15)
  for (const file of files) {
    const source = readFileSync(`${root}${file}`, 'utf8')
    expect(source).not.toMatch(/\beval\(|\bFunction\(|\bprocess\b|\bBuffer\b|\brequire\(|\bimport\(/)
    for (const [, from = ''] of source.matchAll(/ from ['"]([^'"]+)['"]/g))
      expect([file, from]).toEqual([file, expect.stringMatching(/^\.\.?\/[\w/-]+\.ts$/)])
  }
})

describe('a bundle', () => {
  test('that registers a backend has less than 6 KB, gzipped', async () => {
    const code = await bundle(`
      import { connect, registerBackend } from '${root}src/index.ts'
      const manager = connect({ url: 'https://manager.example.com', token: 'token' })
      globalThis.backend = await registerBackend(manager, { applicationId: 'a', callbackUrl: 'https://b.example.com' })`)
    const bytes = gzipSync(code).length
    process.stdout.write(`a bundle that registers a backend: ${code.length} bytes, ${bytes} gzipped\n`)
    expect(code).toContain('/api/machine/register-backend')
    expect(bytes).toBeLessThan(maxBytes)
    // The bundle contains only the functions that the program imports.
    expect(code).not.toMatch(/reconnect_jitter|comms\/emit|\/pilets|\/esb|\/query/)
  })

  test('holds the one document that it names', async () => {
    const code = await bundle(`
      import { graphql } from '${root}src/index.ts'
      import { meDocument } from '${root}src/generated/documents.ts'
      globalThis.ask = (manager) => graphql(manager, meDocument, {})`)
    expect(code).toContain('query me{me{')
    expect(code).not.toContain('listProjects')
    expect(code).not.toContain('register-backend')
  })
})
