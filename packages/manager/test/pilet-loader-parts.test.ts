// Tests examples/pilet-loader.mjs without a browser: which pilets it refuses, and how it reads a package.
// pilet-loader.browser.test.ts covers it in a browser.
import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { describe, expect, test, vi } from 'vitest'
import { npmPack } from './kit/npm-pack.ts'

type Item = {
  name?: string
  version?: string
  link: string
  hash: string
  signature?: string | undefined
  keyId?: string | undefined
  statement?: string
  statementSignature?: string
}
type Expected = { project?: string; requireStatements?: boolean }
type Loader = {
  fetchVerifiedBytes: (
    item: Item,
    keys: Record<string, string>,
    deadline?: AbortSignal,
    expected?: Expected,
  ) => Promise<Uint8Array>
  extractProgram: (bytes: Uint8Array) => Promise<Uint8Array>
}
const { fetchVerifiedBytes, extractProgram } = (await import(
  new URL('../../../examples/pilet-loader.mjs', import.meta.url).href
)) as Loader

const makeKey = () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
  return { privateKey, text: raw.toString('base64') }
}
const [ours, foreign] = [makeKey(), makeKey()]
const keys = { ours: ours.text }
const linkOf = (bytes: Buffer): string => `data:text/javascript;base64,${bytes.toString('base64')}`
const good = Buffer.from('export const setup = () => 1\n')
const itemOf = (bytes: Buffer): Item => ({
  link: linkOf(bytes),
  hash: createHash('sha256').update(bytes).digest('hex'),
  signature: sign(null, bytes, ours.privateKey).toString('base64'),
  keyId: 'ours',
})
const changed = Buffer.from(good.toString().replace('1', '2'))

describe('what was fetched', () => {
  test('is returned, byte by byte, when hash and signature fit', async () => {
    expect(Buffer.from(await fetchVerifiedBytes(itemOf(good), keys))).toEqual(good)
  })

  test.each<[string, Item, string]>([
    ['no signature', { ...itemOf(good), signature: undefined, keyId: undefined }, 'the pilet is not signed'],
    ['a key that is not trusted', { ...itemOf(good), keyId: 'theirs' }, 'a key that is not trusted: theirs'],
    ['a key that every object has', { ...itemOf(good), keyId: 'constructor' }, 'a key that is not trusted'],
    ['other bytes', { ...itemOf(good), link: linkOf(changed) }, 'the bytes do not match the hash'],
    [
      'other bytes and their hash',
      { ...itemOf(changed), signature: itemOf(good).signature },
      'the signature',
    ],
    [
      'the signature of another key under the name of a trusted one',
      { ...itemOf(good), signature: sign(null, good, foreign.privateKey).toString('base64') },
      'the signature does not match',
    ],
    ['a signature that is cut', { ...itemOf(good), signature: 'AAAA' }, 'the signature does not match'],
  ])('is refused with %s', async (_, item, reason) => {
    await expect(fetchVerifiedBytes(item, keys)).rejects.toThrow(reason)
  })
})

describe('a statement', () => {
  type About = { project: string; name: string; version: string; hash: string }
  const textOf = ({ project, name, version, hash }: About): string =>
    JSON.stringify({ svcPiletStatement: 1, project, name, version, hash })
  /** Returns an item with this signed statement. */
  const stated = (values: Partial<About> = {}, by = ours, text = textOf): Item => {
    const item = { name: 'menu', version: '1.0.0', ...itemOf(good) }
    const statement = text({ project: 'p1', name: 'menu', version: '1.0.0', hash: item.hash, ...values })
    const statementSignature = sign(null, Buffer.from(statement), by.privateKey).toString('base64')
    return { ...item, statement, statementSignature }
  }
  const verified = (item: Item, expected: Expected = { project: 'p1' }) =>
    fetchVerifiedBytes(item, keys, undefined, expected)

  test('that is right lets the bytes pass, and so does none, unless one is required', async () => {
    expect(Buffer.from(await verified(stated()))).toEqual(good)
    const none = { name: 'menu', version: '1.0.0', ...itemOf(good) }
    expect(Buffer.from(await verified(none))).toEqual(good)
    await expect(verified(none, { requireStatements: true })).rejects.toThrow('the pilet has no statement')
  })

  test('is about the project of the link where the page names none', async () => {
    const item = stated()
    const ofLink = { ...item, link: `/pilet-bundle/a1/p1/menu/1.0.0` }
    const fetched = vi.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response(good))
    expect(Buffer.from(await verified(ofLink, {}))).toEqual(good)
    await expect(verified({ ...ofLink, link: '/pilet-bundle/a1/p2/menu/1.0.0' }, {})).rejects.toThrow(
      'another pilet',
    )
    fetched.mockRestore()
  })

  test.each<[string, Item, string]>([
    ['of another project', stated({ project: 'p2' }), 'the statement is about another pilet'],
    ['of another name', stated({ name: 'cart' }), 'the statement is about another pilet'],
    ['of another version', stated({ version: '0.9.0' }), 'the statement is about another pilet'],
    ['of other bytes', stated({ hash: '0'.repeat(64) }), 'the statement is about another pilet'],
    [
      'written in another way',
      stated({}, ours, (about) => JSON.stringify({ svcPiletStatement: 1, ...about }, null, 1)),
      'the statement is about another pilet',
    ],
    ['of another key', stated({}, foreign), 'the statement is not signed with the key of the pilet'],
    [
      'without its signature',
      { ...stated(), statementSignature: '' },
      'the statement is not signed with the key of the pilet',
    ],
  ])('%s refuses the bytes, however right they are', async (_, item, reason) => {
    await expect(verified(item)).rejects.toThrow(reason)
  })

  test('that was taken away in part refuses the bytes', async () => {
    const { statement: _, ...signatureOnly } = stated()
    await expect(verified(signatureOnly)).rejects.toThrow('the statement is about another pilet')
    const { statementSignature: __, ...textOnly } = stated()
    await expect(verified(textOnly)).rejects.toThrow()
  })
})

describe('a package', () => {
  const deep = `${'long-folder-name/'.repeat(8)}entry.js`

  test.each<[string, { main?: string; module?: string }, string]>([
    ['index.js where nothing is named', {}, 'index.js'],
    ['main', { main: './dist/main.js' }, 'dist/main.js'],
    ['module before main', { main: 'dist/main.js', module: 'dist/es.js' }, 'dist/es.js'],
    ['a name with a space', { main: 'my entry.js' }, 'my entry.js'],
    ['a name of more than 100 characters', { main: deep }, deep],
  ])('that npm packed runs %s', async (_, manifest, entry) => {
    const others = { 'index.js': '0', 'dist/main.js': '0', [entry]: `export default '${entry}'` }
    const program = await extractProgram(npmPack(manifest, others))
    expect(Buffer.from(program).toString()).toBe(`export default '${entry}'`)
  })

  test('without its entry is refused, and the entry is named', async () => {
    const packed = npmPack({ main: 'gone.js' }, { 'index.js': '1' })
    await expect(extractProgram(packed)).rejects.toThrow('the package has no file package/gone.js')
  })

  test('that unpacks to more than 64 MiB is refused', async () => {
    const bomb = gzipSync(Buffer.alloc(65 * 1024 * 1024))
    expect(bomb.length).toBeLessThan(100_000)
    await expect(extractProgram(bomb)).rejects.toThrow('the package unpacks to more than 67108864 bytes')
  })

  const header = (size: string): Buffer => {
    const block = Buffer.alloc(512)
    block.write('package/package.json')
    block.write(size, 124)
    block.write('0', 156)
    return block
  }
  test.each([
    ['a file that is longer than the rest', header('00000002000')],
    ['a size below zero', header('-0000001000')],
    ['a size that is no number', header('a'.repeat(11))],
    ['text in the place of a tar', Buffer.alloc(600, 'text')],
  ])('with %s is refused', async (_, tar) => {
    await expect(extractProgram(gzipSync(tar))).rejects.toThrow('the package is not a complete tar archive')
  })

  test('that is cut, or is no gzip behind its first two bytes, is refused', async () => {
    const packed = npmPack({}, { 'index.js': '1' })
    await expect(extractProgram(packed.subarray(0, -20))).rejects.toThrow()
    await expect(extractProgram(Buffer.from([0x1f, 0x8b, 1, 2, 3]))).rejects.toThrow()
  })

  test('anything that does not begin as gzip is the program itself', async () => {
    expect(await extractProgram(good)).toBe(good)
  })
})
