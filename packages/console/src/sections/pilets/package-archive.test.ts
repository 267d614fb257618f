// Tests which files count as packages, and that a damaged archive is reported instead of read.
import { describe, expect, test } from 'vitest'
import { readPackage } from './package-archive.ts'

/** Encodes a tar archive with these files. */
function tar(files: Readonly<Record<string, string>>): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder()
  const blocks = Object.entries(files).flatMap(([name, text]) => {
    const header = new Uint8Array(512)
    header.set(encoder.encode(name))
    header.set(encoder.encode(`${text.length.toString(8).padStart(11, '0')}\0`), 124)
    const content = new Uint8Array(Math.ceil(text.length / 512) * 512)
    content.set(encoder.encode(text))
    return [header, content]
  })
  const archive = new Uint8Array(blocks.reduce((sum, { length }) => sum + length, 1_024))
  let offset = 0
  for (const block of blocks) {
    archive.set(block, offset)
    offset += block.length
  }
  return archive
}
type Content = Uint8Array<ArrayBuffer> | string
async function gzip(content: Content): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([content]).stream().pipeThrough(new CompressionStream('gzip'))
  return new Uint8Array(await new Response(stream).arrayBuffer())
}
const toFile = (content: Content, name = 'shop-cart-1.2.0.tgz'): File => new File([content], name)
const pack = async (files: Readonly<Record<string, string>>): Promise<File> => toFile(await gzip(tar(files)))

describe('the manifest of an archive', () => {
  test('is found behind other files, and its description is shortened', async () => {
    const manifest = { name: '@shop/cart', version: '1.2.0', description: 'd'.repeat(1_200) }
    const file = await pack({
      'package/dist/index.js': 'x'.repeat(70_000),
      'package/package.json': JSON.stringify(manifest),
    })
    expect(await readPackage(file)).toEqual({
      kind: 'package',
      manifest: { ...manifest, description: 'd'.repeat(1_000) },
    })
  })

  test.each([
    [{ name: 'cart' }, 'noNameOrVersion'],
    [{ name: 'cart', version: 1 }, 'noNameOrVersion'],
    [[], 'noNameOrVersion'],
  ])('%j is rejected', async (manifest, problem) => {
    const file = await pack({ 'package/package.json': JSON.stringify(manifest) })
    expect(await readPackage(file)).toEqual({ kind: 'problem', problem })
  })

  test('can be missing', async () => {
    expect(await readPackage(await pack({ 'package/index.js': 'export {}' }))).toEqual({
      kind: 'problem',
      problem: 'noManifest',
    })
    expect(await readPackage(toFile(await gzip('text')))).toEqual({ kind: 'problem', problem: 'noManifest' })
  })
})

test('an archive that ends too early is damaged', async () => {
  const noise = [...crypto.getRandomValues(new Uint8Array(40_000))].join(' ')
  const bytes = await gzip(tar({ 'package/index.js': noise, 'package/package.json': '{}' }))
  const half = bytes.slice(0, bytes.length / 2)
  expect(await readPackage(toFile(half))).toEqual({ kind: 'problem', problem: 'damaged' })
})

test('a script is accepted by its extension, and other files are not', async () => {
  expect(await readPackage(toFile('export {}', 'index.mjs'))).toEqual({ kind: 'script' })
  expect(await readPackage(toFile('%PDF', 'report.pdf'))).toEqual({ kind: 'problem', problem: 'unknownType' })
  expect(await readPackage(toFile('text', 'renamed.tgz'))).toEqual({
    kind: 'problem',
    problem: 'unknownType',
  })
  expect(await readPackage(toFile('', 'empty.tgz'))).toEqual({ kind: 'problem', problem: 'empty' })
})
