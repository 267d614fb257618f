// Reads and writes files that only their owner can read. Writes are atomic.
import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, chmod, lstat, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { readBoundedText } from './bounded-text.ts'
import { Failure } from './failures.ts'

/** Creates the folder and its parents. Only the owner can access the folder itself. */
export async function ensurePrivateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await chmod(folder, 0o700)
}

/** Writes the file atomically: other programs read either the previous text or the new text. */
export const writePrivateFile = (file: string, text: string): Promise<void> =>
  replacePrivateFile(file, (handle) => handle.writeFile(text))

/**
 * Writes a temporary file with `write`, then renames it. Other programs therefore never see a partial file under
 * the final name.
 */
export async function replacePrivateFile(
  file: string,
  write: (handle: FileHandle, temporaryFile: string) => Promise<void>,
): Promise<void> {
  // Other users cannot guess the random name, so they cannot place a symbolic link there.
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

/**
 * Returns the text of a secret file, or null if the file does not exist. Throws if other users can read it.
 */
export async function readPrivateFile(file: string): Promise<string | null> {
  const stats = await lstat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw new Failure('failed', `Cannot read ${file}: ${error.code ?? error.message}`)
  })
  if (stats === null) return null
  if (!stats.isFile()) throw new Failure('failed', `${file} is not a regular file. Move it or remove it.`)
  if ((stats.mode & 0o077) !== 0)
    throw new Failure(
      'failed',
      `Other users can access ${file}. Run: chmod 600 '${file}'. If they may have read the file, revoke the token in it.`,
    )
  return readBounded(file)
}

/** Returns the text of a file that the user names. Throws if the file is larger than the limit. */
export async function readNamedFile(file: string, maxMegabytes = 1): Promise<string> {
  const stats = await stat(file).catch(() => null)
  if (stats === null) throw new Failure('usage', `File ${file} does not exist.`)
  return readBounded(file, maxMegabytes)
}

/** Limits the number of bytes, because pipes and devices report a size of 0. */
async function readBounded(file: string, maxMegabytes = 1): Promise<string> {
  try {
    return await readBoundedText(createReadStream(file), file, maxMegabytes)
  } catch (error) {
    if (error instanceof Failure) throw error
    const { code, message } = error as NodeJS.ErrnoException
    throw new Failure('failed', `Cannot read ${file}: ${code ?? message}`)
  }
}
