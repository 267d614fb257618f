// Files that a document names. They must be in the folder of the document or in a folder that the user allows.
// Otherwise, an untrusted document could upload a private key or overwrite a file.
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises'
import path from 'node:path'
import { boundedText } from '../bounded-text.ts'
import { Failure } from '../failures.ts'

/** Real paths of the allowed folders. The first one is the folder of the document. */
export type Folders = readonly string[]
/** A plan shows this instead of the content of a file. */
export type FileDigest = { bytes: number; sha256: string }

/** Resolves the folder of the document and the allowed folders. Throws if one does not exist. */
export const foldersOf = (document: string, allowed: readonly string[]): Promise<Folders> =>
  Promise.all(
    [path.dirname(document), ...allowed].map((folder) =>
      realpath(folder).catch(() => {
        throw new Failure('usage', `Folder ${folder} does not exist.`)
      }),
    ),
  )

/** Returns the text of a file of at most 1 MiB. Throws if it is outside the folders or not a regular file. */
export async function readWithin(folders: Folders, file: string): Promise<string> {
  await assertWithinFolders(folders, file)
  // Without O_NONBLOCK, opening a named pipe waits for a writer.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') throw new Failure('usage', `File ${file} does not exist.`)
      throw new Failure('failed', `Cannot read ${file}: ${error.code ?? error.message}`)
    },
  )
  try {
    await assertOpenedWithinFolders(folders, handle, file)
    if (!(await handle.stat()).isFile()) throw new Failure('usage', `${file} is not a regular file.`)
    return await boundedText(handle.createReadStream({ autoClose: false }), file)
  } finally {
    await handle.close()
  }
}

/** Throws if the file, with every symbolic link resolved, is outside the folders or would be created outside them. */
export async function assertWithinFolders(folders: Folders, file: string): Promise<void> {
  assertRealPathWithin(folders, file, await resolveLinks(file))
}

/** Repeats the check for an open file: a link replaced after the first check cannot lead elsewhere. */
export async function assertOpenedWithinFolders(
  folders: Folders,
  handle: FileHandle,
  file: string,
): Promise<void> {
  assertRealPathWithin(folders, file, await openedPath(handle, file))
}

/** The size and the hash of a text. */
export function digestOf(text: string): FileDigest {
  const bytes = Buffer.from(text)
  return { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }
}

function assertRealPathWithin(folders: Folders, file: string, real: string): void {
  if (folders.some((folder) => isWithin(folder, real))) return
  throw new Failure(
    'usage',
    `${file} resolves to ${real}, which is outside the folder of the document. To allow it, pass --allow-outside ${path.dirname(real)}`,
  )
}

function isWithin(folder: string, real: string): boolean {
  const relative = path.relative(folder, real)
  return relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative)
}

/** Resolves symbolic links. Parts of the path that do not exist yet stay unchanged. */
async function resolveLinks(file: string): Promise<string> {
  try {
    return await realpath(file)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT') throw new Failure('usage', `Cannot use ${file}: ${code ?? message}`)
    // The target of a dangling link cannot be checked: it can be created anywhere later.
    if ((await lstat(file).catch(() => null)) !== null)
      throw new Failure('usage', `${file} is a link to a file that does not exist. Remove the link.`)
    return path.join(await resolveLinks(path.dirname(file)), path.basename(file))
  }
}

/** Returns the path of an open file. Outside Linux, it is the resolved path if that is still the same file. */
async function openedPath(handle: FileHandle, file: string): Promise<string> {
  const known = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => null)
  if (known !== null) return known
  const real = await realpath(file)
  const [found, opened] = [await lstat(real), await handle.stat()]
  if (found.ino !== opened.ino || found.dev !== opened.dev)
    throw new Failure('failed', `${file} was replaced while it was being opened. Run the command again.`)
  return real
}
