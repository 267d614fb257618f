// Reads files that a document names. They must be in the folder of the document or in a folder that the user
// allows. Otherwise, an untrusted document could upload a private key or overwrite a file.
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises'
import path from 'node:path'
import { readBoundedText } from '../bounded-text.ts'
import { Failure } from '../failures.ts'

/** Real paths of the allowed folders. The first one is the folder of the document. */
export type Folders = readonly string[]
/** A plan shows the digest of a file instead of its content. */
export type FileDigest = { bytes: number; sha256: string }

/** Resolves the folder of the document and the allowed folders. Throws if one of them does not exist. */
export const resolveFolders = (document: string, allowedFolders: readonly string[]): Promise<Folders> =>
  Promise.all(
    [path.dirname(document), ...allowedFolders].map((folder) =>
      realpath(folder).catch(() => {
        throw new Failure('usage', `Folder ${folder} does not exist.`)
      }),
    ),
  )

/** Returns the text of a file of at most 1 MiB. Throws if it is missing, outside the folders or not a regular file. */
export async function readWithin(folders: Folders, file: string): Promise<string> {
  const text = await findWithin(folders, file)
  if (text === null) throw new Failure('usage', `File ${file} does not exist.`)
  return text
}

/** Returns the text like `readWithin`, or null if the file does not exist. */
export async function findWithin(folders: Folders, file: string): Promise<string | null> {
  await assertWithinFolders(folders, file)
  // Without O_NONBLOCK, opening a named pipe waits for a writer.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null
      throw new Failure('failed', `Cannot read ${file}: ${error.code ?? error.message}`)
    },
  )
  if (handle === null) return null
  try {
    await assertOpenedWithinFolders(folders, handle, file)
    if (!(await handle.stat()).isFile()) throw new Failure('usage', `${file} is not a regular file.`)
    return await readBoundedText(handle.createReadStream({ autoClose: false }), file)
  } finally {
    await handle.close()
  }
}

/** Throws if the file, with every symbolic link resolved, is outside the folders or would be created outside them. */
export async function assertWithinFolders(folders: Folders, file: string): Promise<void> {
  assertRealPathWithin(folders, file, await resolveLinks(file))
}

/** Repeats the check for an open file. A symbolic link may have been replaced since the first check. */
export async function assertOpenedWithinFolders(
  folders: Folders,
  handle: FileHandle,
  file: string,
): Promise<void> {
  assertRealPathWithin(folders, file, await getOpenPath(handle, file))
}

/** Returns the size and the hash of the text. */
export function computeDigest(text: string): FileDigest {
  const bytes = Buffer.from(text)
  return { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }
}

function assertRealPathWithin(folders: Folders, file: string, realPath: string): void {
  if (folders.some((folder) => isWithin(folder, realPath))) return
  throw new Failure(
    'usage',
    `${file} resolves to ${realPath}, which is outside the folder of the document. To allow it, pass --allow-outside ${path.dirname(realPath)}`,
  )
}

function isWithin(folder: string, realPath: string): boolean {
  const relative = path.relative(folder, realPath)
  return relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative)
}

/** Resolves symbolic links. Parts of the path that do not exist yet are left unchanged. */
async function resolveLinks(file: string): Promise<string> {
  try {
    return await realpath(file)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT') throw new Failure('usage', `Cannot use ${file}: ${code ?? message}`)
    // The target of a dangling link cannot be checked, because it can be created anywhere later.
    if ((await lstat(file).catch(() => null)) !== null)
      throw new Failure('usage', `${file} is a link to a file that does not exist. Remove the link.`)
    return path.join(await resolveLinks(path.dirname(file)), path.basename(file))
  }
}

/**
 * Returns the path of an open file. On systems other than Linux, returns the resolved path if it still leads to the
 * same file.
 */
async function getOpenPath(handle: FileHandle, file: string): Promise<string> {
  const linuxPath = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => null)
  if (linuxPath !== null) return linuxPath
  const realPath = await realpath(file)
  const [currentStat, openedStat] = [await lstat(realPath), await handle.stat()]
  if (currentStat.ino !== openedStat.ino || currentStat.dev !== openedStat.dev)
    throw new Failure('failed', `${file} was replaced while it was being opened. Run the command again.`)
  return realPath
}
