// Stores which project, app and environment a folder is linked to. The links are in the configuration of the user and
// not in the folder, so that a cloned repository cannot choose the project that a command changes.
import { realpath } from 'node:fs/promises'
import path from 'node:path'
import { getConfigFolder } from './credentials.ts'
import { Failure } from './failures.ts'
import { ensurePrivateFolder, readPrivateFile, writePrivateFile } from './private-files.ts'
import type { UsedKind } from './used-objects.ts'
import type { Terminal } from './terminal.ts'

/** The id identifies the object even if its slug changes. The name is for people. */
type LinkedObject = { id: string; name: string }
export type Link = { url: string; project: LinkedObject } & Partial<
  Record<Exclude<UsedKind, 'project' | 'tenant'>, LinkedObject>
>
export type FoundLink = Link & { folder: string }
type Links = Record<string, Link>

const maxLinks = 1_000

const getLinksPath = (terminal: Terminal): string => path.join(getConfigFolder(terminal), 'links.json')

async function readLinks(file: string): Promise<Links> {
  const text = await readPrivateFile(file)
  if (text === null) return {}
  try {
    const { links } = JSON.parse(text) as { links: Links }
    return Object.fromEntries(Object.entries(links).filter(([, link]) => isLink(link)))
  } catch {
    throw new Failure(
      'failed',
      `${file} is not a valid file of links. Remove the file and link your folders again.`,
    )
  }
}

const isLinkedObject = (value: unknown): boolean => {
  const { id, name } = (value ?? {}) as Partial<LinkedObject>
  return typeof id === 'string' && typeof name === 'string'
}
const isLink = ({ url, project, app, environment }: Link): boolean =>
  typeof url === 'string' &&
  isLinkedObject(project) &&
  [app, environment].every((one) => one === undefined || isLinkedObject(one))

/** Symbolic links to a folder lead to the same link. */
export const resolveFolder = (folder: string): Promise<string> => realpath(folder).catch(() => folder)

/** Returns the link of the working folder or of its nearest linked parent, or null. */
export async function findLink(terminal: Terminal): Promise<FoundLink | null> {
  const links = await readLinks(getLinksPath(terminal))
  for (let folder = await resolveFolder(terminal.cwd); ; folder = path.dirname(folder)) {
    const link = Object.hasOwn(links, folder) ? links[folder] : undefined
    if (link !== undefined) return { ...link, folder }
    if (folder === path.dirname(folder)) return null
  }
}

/** Links a folder. Forgets the oldest link if there are too many. */
export async function saveLink(terminal: Terminal, folder: string, link: Link): Promise<void> {
  const file = getLinksPath(terminal)
  const { [folder]: _, ...others } = await readLinks(file)
  const kept = Object.entries(others).slice(-(maxLinks - 1))
  await writeLinks(file, { ...Object.fromEntries(kept), [folder]: link })
}

export async function removeLink(terminal: Terminal, folder: string): Promise<void> {
  const file = getLinksPath(terminal)
  const { [folder]: _, ...others } = await readLinks(file)
  await writeLinks(file, others)
}

async function writeLinks(file: string, links: Links): Promise<void> {
  await ensurePrivateFolder(path.dirname(file))
  await writePrivateFile(file, `${JSON.stringify({ links }, null, 2)}\n`)
}
