// Packages as others install them: packed by npm, installed without a network into an empty folder, run by Node, which
// strips no types there, and used by a program that the compiler checks.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = new URL('../../../', import.meta.url).pathname
const packages = ['gotemplate', 'client', 'cli']
/** What they depend on, packed from what is installed here: a cache need not know them. */
const dependencies = ['commander', 'libsodium-wrappers', 'libsodium', 'yaml']
let folder: string

/** What a command prints, in the folder of the consumer. */
const run = (program: string, args: readonly string[], cwd = `${folder}/consumer`): string =>
  execFileSync(program, args, { cwd, encoding: 'utf8', stdio: 'pipe' })

beforeAll(() => {
  folder = mkdtempSync(`${tmpdir()}/published-`)
  mkdirSync(`${folder}/consumer`)
  writeFileSync(`${folder}/consumer/package.json`, '{"name":"consumer","version":"1.0.0","type":"module"}')
  for (const name of packages)
    run(process.execPath, [`${root}packages/manager/tools/dist.ts`, name, `${folder}/${name}`], folder)
  const places = packages
    .map((name) => `${folder}/${name}`)
    .concat(dependencies.map((name) => `${root}node_modules/${name}`))
  const packed = run('npm', ['pack', '--offline', '--ignore-scripts', '--json', ...places], folder)
  const files = (JSON.parse(packed) as { filename: string }[]).map(({ filename }) => `${folder}/${filename}`)
  run('npm', ['install', '--offline', '--no-audit', '--no-fund', ...files])
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('they run', () => {
  writeFileSync(
    `${folder}/consumer/program.js`,
    `import { parse } from 'gotemplate'
     import { connect, registerBackend } from '@manager/client'
     import { meDocument } from '@manager/client/documents'
     console.log(parse('{{.}}').execute(1), connect({ url: 'https://m.example/' }).url, typeof registerBackend, meDocument.slice(0, 9))`,
  )
  expect(run(process.execPath, ['program.js'])).toBe('1 https://m.example function query me{\n')
})

test('a folder with anything else in it is left alone', () => {
  const tool = [`${root}packages/manager/tools/dist.ts`, 'client', `${folder}/consumer`]
  expect(() => run(process.execPath, tool)).toThrow(
    'is not empty, and is not a former package @manager/client',
  )
  expect(existsSync(`${folder}/consumer/package.json`)).toBe(true)
})

test('svc runs as a program of the folder', () => {
  const svc = `${folder}/consumer/node_modules/.bin/svc`
  expect(run(svc, ['--version'])).toMatch(/^\d+\.\d+\.\d+\n$/)
  expect(run(svc, ['apply', '--help'])).toContain('svc apply -f')
  expect(run(svc, ['completion', 'bash'])).toContain('complete ')
})

/** Checks a program against the declarations, by the strictest rules, theirs included. */
function check(source: string): string {
  writeFileSync(`${folder}/consumer/checked.ts`, source)
  const rules = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess']
  const language = [
    '--ignoreConfig',
    '--noEmit',
    '--target',
    'es2024',
    '--module',
    'nodenext',
    '--types',
    'node',
  ]
  try {
    return run(process.execPath, [
      `${root}node_modules/typescript/bin/tsc`,
      ...language,
      ...rules,
      'checked.ts',
    ])
  } catch (error) {
    return (error as { stdout: string }).stdout
  }
}

test('they have types, which hold for who uses them rightly and for nobody else', () => {
  mkdirSync(`${folder}/consumer/node_modules/@types`, { recursive: true })
  for (const name of ['@types/node', 'undici-types'])
    symlinkSync(`${root}node_modules/${name}`, `${folder}/consumer/node_modules/${name}`)
  const program = (slug: string): string => `
    import { parse } from 'gotemplate'
    import { connect, emit, graphql, listNotifications } from '@manager/client'
    import { getProjectDocument } from '@manager/client/documents'
    const manager = connect({ url: 'https://m.example', token: async () => 'token' })
    const text: string = parse('a').execute({})
    const { project } = await graphql(manager, getProjectDocument, { slug: ${slug} })
    const names: string[] = project.environments.map(({ name }) => name)
    const { notificationId } = await emit(manager, { applicationId: text, tenantId: names[0] ?? '', expiresAt: null })
    const { notifications } = await listNotifications(manager, { path: '/comms' }, { limit: 1 })
    export const last: string | undefined = notifications[0]?.createdAt ?? notificationId`
  expect(check(program(`'shop'`))).toBe('')
  expect(check(program('17'))).toContain(`Type 'number' is not assignable to type 'string'`)
})

test('their manifests name files that are there, and nothing of this repository', () => {
  for (const name of ['gotemplate', '@manager/client', '@manager/cli']) {
    const place = `${folder}/consumer/node_modules/${name}`
    const manifest = JSON.parse(readFileSync(`${place}/package.json`, 'utf8')) as Record<string, unknown>
    expect(manifest).not.toHaveProperty('scripts')
    expect(manifest).not.toHaveProperty('devDependencies')
    const entries = JSON.stringify([manifest['exports'], manifest['bin']])
    const named = [...entries.matchAll(/"((?:\.\/)?[^"]+\.(?:js|d\.ts))"/g)]
    expect(named.length).toBeGreaterThan(0)
    for (const [, file = ''] of named) expect(readFileSync(`${place}/${file}`, 'utf8')).not.toContain(".ts'")
    expect(readFileSync(`${place}/LICENSE`, 'utf8')).toContain('Apache License')
  }
})
