// Packs the published packages with npm and installs the tarballs in an empty folder without network access.
// Uses the packages from ES modules, CommonJS, the compiler and the shell.
import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { packWorkspaces } from './kit/pack-workspaces.ts'

type Manifest = {
  name: string
  version: string
  exports?: Record<string, string | object>
  dependencies?: Record<string, string>
} & Record<string, unknown>

const root = new URL('../../../', import.meta.url).pathname
const folders = ['gotemplate', 'client', 'cli']
const names = ['gotemplate', '@manager/client', '@manager/cli']
/** Dependencies that are packed from node_modules, because the npm cache may not contain them. */
const dependencies = ['commander', 'libsodium-wrappers', 'libsodium', 'yaml']
const folder = mkdtempSync(`${tmpdir()}/published-`)
const consumer = `${folder}/consumer`

const readManifest = (place: string): Manifest =>
  JSON.parse(readFileSync(`${place}/package.json`, 'utf8')) as Manifest

/** Runs a command in the folder that installs the packages, and returns its output. */
const run = (program: string, args: readonly string[], cwd = consumer): string =>
  execFileSync(program, args, { cwd, encoding: 'utf8', stdio: 'pipe' })

const runProgram = (file: string, source: string): string => {
  writeFileSync(`${consumer}/${file}`, source)
  return run(process.execPath, [file])
}

function packDependencies(): string[] {
  const places = dependencies.map((name) => `${root}node_modules/${name}`)
  const packed = run('npm', ['pack', '--offline', '--ignore-scripts', '--json', ...places], folder)
  return (JSON.parse(packed) as { filename: string }[]).map(({ filename }) => `${folder}/${filename}`)
}

beforeAll(async () => {
  mkdirSync(consumer)
  writeFileSync(`${consumer}/package.json`, '{"name":"consumer","version":"1.0.0","type":"module"}')
  const packing = packWorkspaces(folders, folder)
  const tarballs = [...packDependencies(), ...(await packing)]
  run('npm', ['install', '--offline', '--no-audit', '--no-fund', ...tarballs])
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('installed', () => {
  test('they run in an ES module', () => {
    const program = `
      import { parse } from 'gotemplate'
      import { connect, registerBackend } from '@manager/client'
      import { meDocument } from '@manager/client/documents'
      console.log(parse('{{printf "%05.1f" .}}').execute(2.25), connect({ url: 'https://m.example/' }).url)
      console.log(typeof registerBackend, meDocument.slice(0, 9))`
    expect(runProgram('program.js', program)).toBe('002.2 https://m.example\nfunction query me{\n')
  })

  test('CommonJS loads them with require() and with import()', () => {
    const program = `
      console.log(require('gotemplate').parse('{{.}}').execute(1), typeof require('@manager/client').connect)
      import('@manager/client/documents').then(({ meDocument }) => console.log(meDocument.slice(0, 9)))`
    expect(runProgram('program.cjs', program)).toBe('1 function\nquery me{\n')
  })

  test('npx svc runs', () => {
    expect(run('npx', ['--offline', 'svc', '--version'])).toBe(
      `${readManifest(root + 'packages/cli').version}\n`,
    )
    const svc = `${consumer}/node_modules/.bin/svc`
    expect(run(svc, ['apply', '--help'])).toContain('svc apply -f')
    expect(run(svc, ['completion', 'bash'])).toContain('complete ')
  })

  test('their types accept a correct program and reject a wrong argument under the strictest rules', () => {
    mkdirSync(`${consumer}/node_modules/@types`, { recursive: true })
    for (const name of ['@types/node', 'undici-types'])
      symlinkSync(`${root}node_modules/${name}`, `${consumer}/node_modules/${name}`)
    writeFileSync(`${consumer}/checked.ts`, typedProgram)
    const language = ['--noEmit', '--target', 'es2024', '--module', 'nodenext', '--types', 'node']
    const rules = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess']
    const tsc = `${root}node_modules/typescript/bin/tsc`
    expect(run(process.execPath, [tsc, '--ignoreConfig', ...language, ...rules, 'checked.ts'])).toBe('')
  })

  test.each(names)('%s contains the license and every file that its manifest names', (name) => {
    const place = `${consumer}/node_modules/${name}`
    const { exports, bin, ...manifest } = readManifest(place)
    expect(manifest).toMatchObject({ publishConfig: { access: 'public', provenance: true } })
    for (const field of ['scripts', 'devDependencies']) expect(manifest).not.toHaveProperty(field)
    const named = [...JSON.stringify([exports, bin]).matchAll(/"((?:\.\/)?dist\/[^"]+)"/g)]
    expect(named.length).toBeGreaterThan(0)
    for (const [, file = ''] of named) expect(readFileSync(`${place}/${file}`, 'utf8')).not.toBe('')
    expect(readFileSync(`${place}/LICENSE`, 'utf8')).toBe(readFileSync(`${root}LICENSE`, 'utf8'))
    expect(globSync('**/*', { cwd: place }).filter((file) => /(?<!\.d)\.ts$/.test(file))).toEqual([])
  })
})

/** The compiler reports an error if the line after @ts-expect-error has none. */
const typedProgram = `
  import { parse } from 'gotemplate'
  import { connect, emit, graphql, listNotifications } from '@manager/client'
  import { getProjectDocument } from '@manager/client/documents'
  const manager = connect({ url: 'https://m.example', token: async () => 'token' })
  const text: string = parse('a').execute({})
  const { project } = await graphql(manager, getProjectDocument, { slug: 'shop' })
  const names: string[] = project.environments.map(({ name }) => name)
  const { notificationId } = await emit(manager, { applicationId: text, tenantId: names[0] ?? '', expiresAt: null })
  const { notifications } = await listNotifications(manager, { path: '/comms' }, { limit: 1 })
  export const last: string | undefined = notifications[0]?.createdAt ?? notificationId
  // @ts-expect-error
  await graphql(manager, getProjectDocument, { slug: 17 })
  // @ts-expect-error
  parse(17)`

describe('in this repository', () => {
  test.each(folders.filter((name) => name !== 'cli'))('imports of %s resolve to its source', (name) => {
    const manifest = readManifest(`${root}packages/${name}`)
    const specifiers = Object.keys(manifest.exports ?? {}).map((key) => key.replace('.', manifest.name))
    expect(specifiers).not.toEqual([])
    for (const specifier of specifiers)
      expect(fileURLToPath(import.meta.resolve(specifier))).toMatch(`${root}packages/${name}/src/`)
  })

  test('packages require the current version of each other', () => {
    const manifests = [...folders, 'manager'].map((name) => readManifest(`${root}packages/${name}`))
    const required = manifests.flatMap(({ dependencies = {} }) =>
      names.flatMap((name) => dependencies[name] ?? []),
    )
    const versions = manifests.map(({ version }) => version)
    expect(required).toHaveLength(2)
    expect(new Set([...versions, ...required]).size).toBe(1)
  })

  test('npm refuses to publish a folder, whose manifest names the source', () => {
    const publish = () => run('npm', ['publish', '--offline', '--dry-run', '-w', 'packages/client'], root)
    expect(publish).toThrow('Cannot publish a folder. Run `npm pack`')
  })
})
