// Builds npm packages, and gives them to the page like a person does.
import { gzipSync } from 'node:zlib'
import type { Locator, Page } from 'playwright-core'

export type PackedFile = { name: string; mimeType: string; buffer: Buffer }
type Manifest = { name: string; version: string; description?: string; main?: string }

const blockBytes = 512

/** Encodes one file of a tar archive. */
function encodeEntry(name: string, content: Buffer): Buffer {
  const header = Buffer.alloc(blockBytes)
  header.write(name, 0)
  header.write('0000644\0', 100)
  header.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124)
  header.write('        0', 148)
  header.write('ustar\x0000', 257)
  // The checksum is computed with spaces in its place.
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  const padding = Buffer.alloc((blockBytes - (content.length % blockBytes)) % blockBytes)
  return Buffer.concat([header, content, padding])
}

/** Creates the archive of a package, as `npm pack` does. */
export function pack(manifest: Manifest, files: Readonly<Record<string, string | Buffer>> = {}): PackedFile {
  const entries = Object.entries({ 'package.json': JSON.stringify(manifest), ...files })
  const tar = Buffer.concat([
    ...entries.map(([name, content]) => encodeEntry(`package/${name}`, Buffer.from(content))),
    Buffer.alloc(2 * blockBytes),
  ])
  const fileName = `${manifest.name.replace('@', '').replace('/', '-')}-${manifest.version}.tgz`
  return toFile(fileName, gzipSync(tar, { level: 1 }))
}

export const toFile = (name: string, buffer: Buffer): PackedFile => ({
  name,
  mimeType: name.endsWith('.tgz') ? 'application/gzip' : '',
  buffer,
})

/** Drops files on the page. */
export async function dropFiles(page: Page, files: readonly PackedFile[]): Promise<void> {
  const data = files.map(({ name, mimeType, buffer }) => ({
    name,
    mimeType,
    text: buffer.toString('base64'),
  }))
  const transfer = await page.evaluateHandle((list) => {
    const dataTransfer = new DataTransfer()
    for (const { name, mimeType, text } of list) {
      const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
      dataTransfer.items.add(new File([bytes], name, { type: mimeType }))
    }
    return dataTransfer
  }, data)
  for (const type of ['dragover', 'drop']) await page.dispatchEvent('main', type, { dataTransfer: transfer })
}

/** Chooses files in the file chooser that a control opens. */
export async function chooseFiles(
  page: Page,
  files: readonly PackedFile[],
  open: () => Promise<void>,
): Promise<void> {
  const opened = page.waitForEvent('filechooser')
  // A key opens the file chooser faster than the browser learns that the test handles it.
  await page.evaluate(() => document.readyState)
  await open()
  const chooser = await opened
  await chooser.setFiles([...files])
}

/** Returns the row of a file in the dialog. */
export const findUpload = (page: Page, name: string): Locator =>
  page.getByRole('listitem').filter({ hasText: name })
