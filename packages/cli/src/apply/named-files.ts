// Files that a document names. Somebody else may have written the document, so its files must be in its own folder or in a
// folder that the person allows: anything else could send a private key to a stranger, or write over a file.
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises'
import path from 'node:path'
import { boundedText } from '../bounded-text.ts'
import { Failure } from '../failures.ts'

/** The real paths of the folders that files may be in; the first one is that of the document. */
export type Folders = readonly string[]
/** What a plan shows of a file. */
export type FileDigest = { bytes: number; sha256: string }

/** The folder of the document, and those that the person allows; throws when one does not exist. */
export const foldersOf = (document: string, allowed: readonly string[]): Promise<Folders> =>
  Promise.all(
    [path.dirname(document), ...allowed].map((folder) =>
      realpath(folder).catch(() => {
        throw new Failure('usage', `There is no folder ${folder}.`)
      }),
    ),
  )

/** The text of a file, at most 1 MiB; throws when the file is outside the folders, or not a regular file. */
export async function readWithin(folders: Folders, file: string): Promise<string> {
  await refuseOutside(folders, file)
  // Without O_NONBLOCK, opening a named pipe waits for a writer.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') throw new Failure('usage', `There is no file ${file}.`)
      throw new Failure('failed', `${file} cannot be read: ${error.code ?? error.message}`)
    },
  )
  try {
    await refuseOpenedOutside(folders, handle, file)
    if (!(await handle.stat()).isFile()) throw new Failure('usage', `${file} is not a regular file.`)
    return await boundedText(handle.createReadStream({ autoClose: false }), file)
  } finally {
    await handle.close()
  }
}

/** Throws when the file is outside the folders once every link is resolved, or would be if it were created. */
export async function refuseOutside(folders: Folders, file: string): Promise<void> {
  assertWithin(folders, file, await resolveLinks(file))
}

/** The same for an open file: a link that was replaced after the first check cannot lead elsewhere. */
export async function refuseOpenedOutside(folders: Folders, handle: FileHandle, file: string): Promise<void> {
  assertWithin(folders, file, await openedPath(handle, file))
}

/** The size and the hash of a text. */
export function digestOf(text: string): FileDigest {
  const bytes = Buffer.from(text)
  return { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }
}

function assertWithin(folders: Folders, file: string, real: string): void {
  if (folders.some((folder) => isWithin(folder, real))) return
  throw new Failure(
    'usage',
    `${file} is outside the folder of the document: it leads to ${real}. To allow it, add --allow-outside ${path.dirname(real)}`,
  )
}

function isWithin(folder: string, real: string): boolean {
  const relative = path.relative(folder, real)
  return relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative)
}

/** The path without links. Parts that do not exist yet stay as they are. */
async function resolveLinks(file: string): Promise<string> {
  try {
    return await realpath(file)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT') throw new Failure('usage', `${file} cannot be used: ${code ?? message}`)
    // Whoever creates its target decides where the link leads.
    if ((await lstat(file).catch(() => null)) !== null)
      throw new Failure('usage', `${file} is a link to a file that does not exist. Remove the link.`)
    return path.join(await resolveLinks(path.dirname(file)), path.basename(file))
  }
}

/** The path of an open file. Linux knows it; elsewhere it is the file at the path, if that is still the same file. */
async function openedPath(handle: FileHandle, file: string): Promise<string> {
  const known = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => null)
  if (known !== null) return known
  const real = await realpath(file)
  const [found, opened] = [await lstat(real), await handle.stat()]
  if (found.ino !== opened.ino || found.dev !== opened.dev)
    throw new Failure('failed', `${file} was replaced while it was opened. Run it again.`)
  return real
}
