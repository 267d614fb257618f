// Files that only their owner may read, written whole or not at all.
import { randomBytes } from 'node:crypto'
import { chmod, lstat, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { Failure } from './failures.ts'

const maxBytes = 1_048_576

/** Makes the folder with all above it; the folder itself is its owner's alone. */
export async function ensurePrivateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await chmod(folder, 0o700)
}

/** Puts the text in the place of the file; another program sees the former text or the new one. */
export async function writePrivateFile(file: string, text: string): Promise<void> {
  const beside = path.join(path.dirname(file), `.${path.basename(file)}.${randomBytes(6).toString('hex')}`)
  try {
    const handle = await open(beside, 'wx', 0o600)
    try {
      await handle.writeFile(text)
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
  return readBounded(file, found.size)
}

/** The text of a file that a person names; at most 1 MiB. */
export async function readNamedFile(file: string): Promise<string> {
  const found = await stat(file).catch(() => null)
  if (found === null) throw new Failure('usage', `There is no file ${file}.`)
  return readBounded(file, found.size)
}

async function readBounded(file: string, size: number): Promise<string> {
  if (size > maxBytes) throw new Failure('usage', `${file} is larger than 1 MiB.`)
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Failure('failed', `${file} cannot be read: ${error.code ?? error.message}`)
  })
}
