// Files that only their owner can read. Writes are atomic.
import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, chmod, lstat, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { boundedText } from './bounded-text.ts'
import { Failure } from './failures.ts'

/** Creates the folder and its parents. Only the owner can access the folder itself. */
export async function ensurePrivateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await chmod(folder, 0o700)
}

/** Replaces the file atomically: other programs read either the previous text or the new text. */
export const writePrivateFile = (file: string, text: string): Promise<void> =>
  replacePrivateFile(file, (handle) => handle.writeFile(text))

/** Lets `write` fill a temporary file and then renames it, so that the name never refers to a partial file. */
export async function replacePrivateFile(
  file: string,
  write: (handle: FileHandle, temporaryFile: string) => Promise<void>,
): Promise<void> {
  // The random name cannot be guessed, so no other user can place a link there.
  const temporaryFile = path.join(
    path.dirname(file),
    `.${path.basename(file)}.${randomBytes(6).toString('hex')}`,
  )
  try {
    const handle = await open(temporaryFile, 'wx', 0o600)
    try {
      await write(handle, temporaryFile)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(temporaryFile, file)
  } finally {
    await rm(temporaryFile, { force: true })
  }
}

/** Returns the text of a secret file, or null if it does not exist. Throws if others can read it. */
export async function readPrivateFile(file: string): Promise<string | null> {
  const found = await lstat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw new Failure('failed', `Cannot read ${file}: ${error.code ?? error.message}`)
  })
  if (found === null) return null
  if (!found.isFile()) throw new Failure('failed', `${file} is not a regular file. Move or remove it.`)
  if ((found.mode & 0o077) !== 0)
    throw new Failure(
      'failed',
      `Other users can access ${file}. Run: chmod 600 '${file}'. If they may have read it, revoke its token.`,
    )
  return readBounded(file)
}

/** Returns the text of a file that the user names. Throws above 1 MiB. */
export async function readNamedFile(file: string): Promise<string> {
  const found = await stat(file).catch(() => null)
  if (found === null) throw new Failure('usage', `File ${file} does not exist.`)
  return readBounded(file)
}

/** Bounds the bytes that are read, because pipes and devices report a size of 0. */
async function readBounded(file: string): Promise<string> {
  try {
    return await boundedText(createReadStream(file), file)
  } catch (error) {
    if (error instanceof Failure) throw error
    const { code, message } = error as NodeJS.ErrnoException
    throw new Failure('failed', `Cannot read ${file}: ${code ?? message}`)
  }
}
