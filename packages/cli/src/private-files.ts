// Files that only their owner may read, written whole or not at all.
import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, chmod, lstat, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { boundedText } from './bounded-text.ts'
import { Failure } from './failures.ts'

/** Makes the folder with all above it; the folder itself is its owner's alone. */
export async function ensurePrivateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await chmod(folder, 0o700)
}

/** Puts the text in the place of the file; another program sees the former text or the new one. */
export const writePrivateFile = (file: string, text: string): Promise<void> =>
  replacePrivateFile(file, (handle) => handle.writeFile(text))

/** The same with what `write` writes to a new file beside it; a file that is not whole is never seen under the name. */
export async function replacePrivateFile(
  file: string,
  write: (handle: FileHandle, beside: string) => Promise<void>,
): Promise<void> {
  // Nobody can have put a link in the way of a name that nobody knows.
  const beside = path.join(path.dirname(file), `.${path.basename(file)}.${randomBytes(6).toString('hex')}`)
  try {
    const handle = await open(beside, 'wx', 0o600)
    try {
      await write(handle, beside)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(beside, file)
  } finally {
    await rm(beside, { force: true })
  }
}

/** The text of a secret file, or null when there is none; one that others may read is refused. */
export async function readPrivateFile(file: string): Promise<string | null> {
  const found = await lstat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw new Failure('failed', `${file} cannot be read: ${error.code ?? error.message}`)
  })
  if (found === null) return null
  if (!found.isFile()) throw new Failure('failed', `${file} is not a file. Move it away.`)
  if ((found.mode & 0o077) !== 0)
    throw new Failure(
      'failed',
      `${file} can be read or changed by others. Run: chmod 600 '${file}'. If others may have read it, revoke the token that is in it.`,
    )
  return readBounded(file)
}

/** The text of a file that a person names; at most 1 MiB. */
export async function readNamedFile(file: string): Promise<string> {
  const found = await stat(file).catch(() => null)
  if (found === null) throw new Failure('usage', `There is no file ${file}.`)
  return readBounded(file)
}

/** The size that is said of a file does not bound it: a pipe and a device say 0. */
async function readBounded(file: string): Promise<string> {
  try {
    return await boundedText(createReadStream(file), file)
  } catch (error) {
    if (error instanceof Failure) throw error
    const { code, message } = error as NodeJS.ErrnoException
    throw new Failure('failed', `${file} cannot be read: ${code ?? message}`)
  }
}
