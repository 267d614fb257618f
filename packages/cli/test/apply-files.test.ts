// Files that a document of apply names: only those of its folder, unless the person allows another one.
import { createHash } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { foldersOf, readWithin, refuseOpenedOutside } from '../src/apply/named-files.ts'
import { useApply } from './kit/apply.ts'

const { folder, svc, json, place } = useApply()
const content = 'PRIVATE {{ .Data.id }}'
const digest = { bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') }
/** Nobody is signed in: a document that is accepted ends with 3, after it was read. */
const nobody = { env: { SVC_TOKEN: '' } }

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
/** A document that names a file in each way there is. */
const documents: readonly [key: string, of: (slug: string, file: string) => string][] = [
  ['transformationTemplateFile', (slug, file) => endpoint(slug, `transformationTemplateFile: ${file}`)],
  ['authTokenFile', (slug, file) => endpoint(slug, `authTokenFile: ${file}`)],
  ['authPasswordFile', (slug, file) => endpoint(slug, `authPasswordFile: ${file}`)],
  ['passwordFile', (slug, file) => machineUser(slug, `username: u, passwordFile: ${file}`)],
  ['tokenFile', (slug, file) => machineUser(slug, `tokenFile: ${file}`)],
]

/** A folder for the document, and beside it one of somebody else, whose name begins the same. */
function scene(name: string): { here: string; beside: string } {
  const { file } = place(name, '')
  const here = path.dirname(file)
  const beside = `${here}-keys`
  mkdirSync(beside, { recursive: true })
  writeFileSync(path.join(beside, 'key'), content)
  return { here, beside }
}
const apply = (name: string, text: string, ...more: string[]) =>
  svc(['apply', '-f', place(name, text).file, '--yes', ...more], nobody)

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
        expect.stringContaining(`it leads to ${beside}/key. To allow it, add --allow-outside ${beside}\n`),
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
    // As Kubernetes mounts files: the folder behind the link changes when they do.
    mkdirSync(path.join(here, '..2026', 'below'), { recursive: true })
    symlinkSync('..2026', path.join(here, '..data'))
    writeFileSync(path.join(here, '..2026', 'below', 'key'), content)
    symlinkSync(path.join('..data', 'below', 'key'), path.join(here, 'key'))
    const reached = path.join(folder.path, `${name}-reached`)
    symlinkSync(here, reached)
    for (const file of ['key', './below/../key', '..data/below/key', path.join(here, 'key')])
      expect([file, (await apply(name, of(name, file))).code]).toEqual([file, 3])
    // The folder itself may be behind a link.
    writeFileSync(path.join(here, 'shop.yaml'), of(name, 'key'))
    expect((await svc(['apply', '-f', path.join(reached, 'shop.yaml'), '--yes'], nobody)).code).toBe(3)
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
    `svc: There is no folder ${beside}/nothing.\n`,
  )
})

test('a token that would be created behind a link is refused, whether or not its folder exists', async () => {
  const { here, beside } = scene('behind')
  symlinkSync(beside, path.join(here, 'linked'))
  symlinkSync(path.join(beside, 'new'), path.join(here, 'dangling'))
  for (const [file, problem] of [
    ['linked/new', `leads to ${beside}/new.`],
    ['linked/a/b/new', `leads to ${beside}/a/b/new.`],
    ['dangling', 'is a link to a file that does not exist.'],
    ['dangling/new', 'is a link to a file that does not exist.'],
    ['shop.yaml/new', 'cannot be used: ENOTDIR'],
  ] as const) {
    const { code, err } = await apply('behind', machineUser('behind', `tokenFile: ${file}`))
    expect([file, code, err]).toEqual([file, 2, expect.stringContaining(problem)])
  }
  expect((await apply('behind', machineUser('behind', 'tokenFile: a/b/new'))).code).toBe(3)
})

test('a link that appears between plan and step writes no token elsewhere', async () => {
  const { here, beside } = scene('exchanged')
  const { file } = place('exchanged', machineUser('exchanged', 'tokenFile: tokens/m'))
  const { code, err } = await svc(['apply', '-f', file, '--yes'], {
    onErr: (text) => {
      if (text.includes('+ project exchanged: done') && !existsSync(path.join(here, 'tokens')))
        symlinkSync(beside, path.join(here, 'tokens'))
    },
  })
  expect([code, err]).toEqual([2, expect.stringContaining(`it leads to ${beside}/m.`)])
  expect(existsSync(path.join(beside, 'm'))).toBe(false)
  rmSync(path.join(here, 'tokens'))
  expect((await svc(['apply', '-f', file, '--yes'])).code).toBe(0)
  expect(readFileSync(path.join(here, 'tokens', 'm'), 'utf8')).toMatch(/^[\w-]{43}\n$/)
})

test('an open file is judged by its own path, not by a link that was replaced meanwhile', async () => {
  const { here, beside } = scene('opened')
  const folders = await foldersOf(path.join(here, 'shop.yaml'), [])
  const handle = await open(path.join(beside, 'key'))
  try {
    await expect(refuseOpenedOutside(folders, handle, path.join(here, 'shop.yaml'))).rejects.toThrow(
      `it leads to ${beside}/key.`,
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
  const folders = await foldersOf(path.join(here, 'shop.yaml'), ['/dev'])
  await expect(readWithin(folders, '/dev/zero')).rejects.toThrow('/dev/zero is not a regular file.')
  expect((await apply('special', endpoint('special', 'authTokenFile: none'))).err).toContain(
    'There is no file',
  )
})

test('a plan shows the size and the hash of a file, and never its content', async () => {
  const name = 'digest'
  const { here } = scene(name)
  const { file } = place(
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
  const { file } = place('told', machineUser('told', 'tokenFile: ./a/../tokens/m'))
  expect((await svc(['apply', '-f', file, '--plan'])).out).toContain('    token (tokens/m): "(new)"\n')
  const { file: unplaced } = place('untold', machineUser('untold', '').replace(', }', ' }'))
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
