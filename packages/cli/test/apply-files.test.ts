// Tests that an `apply` document can name only files in its own folder, unless the user allows a different
// folder.
import { createHash } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { assertOpenedWithinFolders, resolveFolders, readWithin } from '../src/apply/named-files.ts'
import { useApply } from './kit/apply.ts'

const { folder, svc, json, writeDocument } = useApply()
const content = 'PRIVATE {{ .Data.id }}'
const digest = { bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') }
/** Without a credential, svc reads an accepted document completely and then exits with 3. */
const signedOut = { env: { SVC_TOKEN: '' } }

const endpoint = (slug: string, field: string): string => `
projects:
  - slug: ${slug}
    name: Shop
    applications: [{ slug: w, name: W, endpoints: [{ name: e, consumeURL: /e, ${field} }] }]`
const machineUser = (slug: string, fields: string): string => `
projects:
  - slug: ${slug}
    name: Shop
    environments: { dev: { machineUsers: [{ name: m, ${fields} }] } }`
/** One document for each field that can name a file. */
const documents: readonly [key: string, of: (slug: string, file: string) => string][] = [
  ['transformationTemplateFile', (slug, file) => endpoint(slug, `transformationTemplateFile: ${file}`)],
  ['authTokenFile', (slug, file) => endpoint(slug, `authTokenFile: ${file}`)],
  ['authPasswordFile', (slug, file) => endpoint(slug, `authPasswordFile: ${file}`)],
  ['passwordFile', (slug, file) => machineUser(slug, `username: u, passwordFile: ${file}`)],
  ['tokenFile', (slug, file) => machineUser(slug, `tokenFile: ${file}`)],
]

/**
 * Creates a folder for the document, and a sibling folder whose name starts with the name of the document's folder.
 */
function scene(name: string): { here: string; beside: string } {
  const { file } = writeDocument(name, '')
  const here = path.dirname(file)
  const beside = `${here}-keys`
  mkdirSync(beside, { recursive: true })
  writeFileSync(path.join(beside, 'key'), content)
  return { here, beside }
}
const apply = (name: string, text: string, ...more: string[]) =>
  svc(['apply', '-f', writeDocument(name, text).file, '--yes', ...more], signedOut)

test.each(documents)(
  '%s outside the folder of the document is refused, however it is spelled',
  async (key, of) => {
    const name = `out-${key.toLowerCase()}`
    const { here, beside } = scene(name)
    symlinkSync(path.join(beside, 'key'), path.join(here, 'link'))
    symlinkSync(beside, path.join(here, 'linked'))
    for (const file of [
      `../${name}-keys/key`,
      path.join(beside, 'key'),
      'link',
      'linked/key',
      './linked/../link',
    ]) {
      const { code, out, err } = await apply(name, of(name, file))
      expect([file, code, out, err]).toEqual([
        file,
        2,
        '',
        expect.stringContaining(
          `resolves to ${beside}/key, which is outside the folder of the document. To allow it, pass --allow-outside ${beside}\n`,
        ),
      ])
      expect(err).not.toContain('PRIVATE')
    }
  },
)

test.each(documents)(
  '%s in the folder, in a folder below it or behind a link within it is taken',
  async (key, of) => {
    const name = `in-${key.toLowerCase()}`
    const { here } = scene(name)
    // Kubernetes mounts files this way: an update replaces the folder behind the link.
    mkdirSync(path.join(here, '..2026', 'below'), { recursive: true })
    symlinkSync('..2026', path.join(here, '..data'))
    writeFileSync(path.join(here, '..2026', 'below', 'key'), content)
    symlinkSync(path.join('..data', 'below', 'key'), path.join(here, 'key'))
    const reached = path.join(folder.path, `${name}-reached`)
    symlinkSync(here, reached)
    for (const file of ['key', './below/../key', '..data/below/key', path.join(here, 'key')])
      expect([file, (await apply(name, of(name, file))).code]).toEqual([file, 3])
    // The folder of the document itself may be a symbolic link.
    writeFileSync(path.join(here, 'shop.yaml'), of(name, 'key'))
    expect((await svc(['apply', '-f', path.join(reached, 'shop.yaml'), '--yes'], signedOut)).code).toBe(3)
  },
)

test.each(documents)('%s in a folder of --allow-outside is taken, and in no other', async (key, of) => {
  const name = `allowed-${key.toLowerCase()}`
  const { beside } = scene(name)
  const others = path.join(folder.path, `${name}-others`)
  mkdirSync(others)
  writeFileSync(path.join(others, 'key'), content)
  const text = of(name, path.join(beside, 'key'))
  expect((await apply(name, text, '--allow-outside', beside)).code).toBe(3)
  expect((await apply(name, text, '--allow-outside', others, '--allow-outside', beside)).code).toBe(3)
  expect((await apply(name, text, '--allow-outside', others)).code).toBe(2)
  expect((await apply(name, text, '--allow-outside', path.join(beside, 'nothing'))).err).toBe(
    `svc: Folder ${beside}/nothing does not exist.\n`,
  )
})

test('a token that would be created behind a link is refused, whether or not its folder exists', async () => {
  const { here, beside } = scene('behind')
  symlinkSync(beside, path.join(here, 'linked'))
  symlinkSync(path.join(beside, 'new'), path.join(here, 'dangling'))
  for (const [file, problem] of [
    ['linked/new', `resolves to ${beside}/new, which`],
    ['linked/a/b/new', `resolves to ${beside}/a/b/new, which`],
    ['dangling', 'is a link to a file that does not exist.'],
    ['dangling/new', 'is a link to a file that does not exist.'],
    ['shop.yaml/new', 'shop.yaml/new: ENOTDIR'],
  ] as const) {
    const { code, err } = await apply('behind', machineUser('behind', `tokenFile: ${file}`))
    expect([file, code, err]).toEqual([file, 2, expect.stringContaining(problem)])
  }
  expect((await apply('behind', machineUser('behind', 'tokenFile: a/b/new'))).code).toBe(3)
})

test('a link that appears between plan and step writes no token elsewhere', async () => {
  const { here, beside } = scene('exchanged')
  const { file } = writeDocument('exchanged', machineUser('exchanged', 'tokenFile: tokens/m'))
  const { code, err } = await svc(['apply', '-f', file, '--yes'], {
    onErr: (text) => {
      if (text.includes('+ project exchanged: done') && !existsSync(path.join(here, 'tokens')))
        symlinkSync(beside, path.join(here, 'tokens'))
    },
  })
  expect([code, err]).toEqual([2, expect.stringContaining(`resolves to ${beside}/m, which`)])
  expect(existsSync(path.join(beside, 'm'))).toBe(false)
  rmSync(path.join(here, 'tokens'))
  expect((await svc(['apply', '-f', file, '--yes'])).code).toBe(0)
  expect(readFileSync(path.join(here, 'tokens', 'm'), 'utf8')).toMatch(/^[\w-]{43}\n$/)
})

test('an open file is judged by its own path, not by a link that was replaced meanwhile', async () => {
  const { here, beside } = scene('opened')
  const folders = await resolveFolders(path.join(here, 'shop.yaml'), [])
  const handle = await open(path.join(beside, 'key'))
  try {
    await expect(assertOpenedWithinFolders(folders, handle, path.join(here, 'shop.yaml'))).rejects.toThrow(
      `resolves to ${beside}/key, which`,
    )
  } finally {
    await handle.close()
  }
})

test('only a regular file is read: a pipe without a writer does not block, and a folder is refused', async () => {
  const { here } = scene('special')
  execFileSync('mkfifo', [path.join(here, 'pipe')])
  mkdirSync(path.join(here, 'below'))
  for (const file of ['pipe', 'below']) {
    const { code, err } = await apply('special', endpoint('special', `authTokenFile: ${file}`))
    expect([code, err]).toEqual([2, expect.stringContaining(`${file} is not a regular file.`)])
  }
  const folders = await resolveFolders(path.join(here, 'shop.yaml'), ['/dev'])
  await expect(readWithin(folders, '/dev/zero')).rejects.toThrow('/dev/zero is not a regular file.')
  expect((await apply('special', endpoint('special', 'transformationTemplateFile: none'))).err).toContain(
    'none does not exist.',
  )
})

test('a plan shows the size and the hash of a file, and never its content', async () => {
  const name = 'digest'
  const { here } = scene(name)
  const { file } = writeDocument(
    name,
    endpoint(name, 'transformationTemplateFile: t, authTokenFile: k, authType: Bearer'),
  )
  writeFileSync(path.join(here, 't'), content)
  writeFileSync(path.join(here, 'k'), 'PRIVATE token')
  type Shown = { steps: { kind: string; changes: { field: string; before: unknown; after: unknown }[] }[] }
  const template = async () => {
    const { steps } = (await json(['apply', '-f', file, '--plan'])) as Shown
    return steps
      .find(({ kind }) => kind === 'endpoint')
      ?.changes.find(({ field }) => field === 'transformationTemplate')
  }
  for (const format of ['table', 'json', 'yaml']) {
    const { code, out, err } = await svc(['apply', '-f', file, '--plan', '-o', format])
    expect([code, out, err]).toEqual([0, expect.stringContaining(digest.sha256), ''])
    expect(out).not.toContain('PRIVATE')
  }
  expect((await svc(['apply', '-f', file, '--plan'])).out).toContain(
    `    transformationTemplate (t): ${digest.bytes} bytes, SHA-256 ${digest.sha256}\n    authToken (k): "(secret)"\n`,
  )
  expect(await template()).toEqual({
    field: 'transformationTemplate',
    file: 't',
    before: null,
    after: digest,
  })
  const applied = await svc(['apply', '-f', file, '--yes', '-o', 'json'])
  expect([applied.code, applied.out + applied.err]).toEqual([0, expect.not.stringContaining('PRIVATE')])

  writeFileSync(path.join(here, 't'), `${content}!`)
  const changed = await svc(['apply', '-f', file, '--plan'])
  expect(changed.out).toContain(
    `    transformationTemplate (t): ${digest.bytes} bytes, SHA-256 ${digest.sha256} -> `,
  )
  expect(changed.out).toContain('    authToken (k): not sent\n')
  expect(changed.out).not.toContain('PRIVATE')
  expect(await template()).toMatchObject({ before: digest, after: { bytes: digest.bytes + 1 } })
})

test('a plan names the file that a token will be written to, relative to the document', async () => {
  const { file } = writeDocument('told', machineUser('told', 'tokenFile: ./a/../tokens/m'))
  expect((await svc(['apply', '-f', file, '--plan'])).out).toContain('    token (tokens/m): "(new)"\n')
  const { file: unplaced } = writeDocument('untold', machineUser('untold', '').replace(', }', ' }'))
  const { out } = await svc([
    'apply',
    '-f',
    unplaced,
    '--plan',
    '--tokens-dir',
    path.join(folder.path, 'kept'),
  ])
  expect(out).toContain('    token (../kept/untold-dev-m.token): "(new)"\n')
})
