// Stores completion candidates for a short time, so that repeated key presses send no requests. The file is private,
// because the names of objects can be confidential.
import { hash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { ensurePrivateFolder, readPrivateFile, writePrivateFile } from './private-files.ts'
import type { Terminal } from './terminal.ts'

type Entry = { atMs: number; values: readonly string[]; isFailure?: boolean }
type Entries = Record<string, Entry>

const maxEntries = 50
const maxBytes = 500_000
const lifetimeMs = 60_000
/** After a failed request, the user does not wait for the next one immediately. */
const failureLifetimeMs = 10_000

/** Returns the path of the cache. It is in XDG_CACHE_HOME if that variable is set. */
function getCachePath({ env, home }: Pick<Terminal, 'env' | 'home'>): string {
  const folder = env['XDG_CACHE_HOME'] ?? ''
  return path.join(path.isAbsolute(folder) ? folder : path.join(home, '.cache'), 'svc', 'completion.json')
}

/** Returns a key without readable parts, because the parts can contain a token. */
export const createCacheKey = (parts: readonly unknown[]): string => hash('sha256', JSON.stringify(parts))

const isEntry = (value: unknown): value is Entry => {
  const { atMs, values } = (value ?? {}) as Partial<Entry>
  return typeof atMs === 'number' && Array.isArray(values) && values.every((one) => typeof one === 'string')
}

/** A cache that cannot be read is empty. */
async function readEntries(file: string): Promise<Entries> {
  try {
    const { entries } = JSON.parse((await readPrivateFile(file)) ?? '{}') as { entries?: Entries }
    return Object.fromEntries(Object.entries(entries ?? {}).filter(([, entry]) => isEntry(entry)))
  } catch {
    return {}
  }
}

function isFresh({ atMs, isFailure = false }: Entry): boolean {
  const ageMs = Date.now() - atMs
  return ageMs >= 0 && ageMs < (isFailure ? failureLifetimeMs : lifetimeMs)
}

/** Returns the cached values, or those of `fetchValues`. A failed request results in no values. */
export async function readThroughCache(
  terminal: Terminal,
  key: string,
  fetchValues: () => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const file = getCachePath(terminal)
  const cached = (await readEntries(file))[key]
  if (cached !== undefined && isFresh(cached)) return cached.values
  let entry: Entry
  try {
    entry = { values: await fetchValues(), atMs: Date.now() }
  } catch {
    entry = { values: [], isFailure: true, atMs: Date.now() }
  }
  await writeEntry(file, key, entry).catch(() => undefined)
  return entry.values
}

async function writeEntry(file: string, key: string, entry: Entry): Promise<void> {
  const { [key]: _, ...others } = await readEntries(file)
  const kept = Object.entries(others)
    .filter(([, other]) => isFresh(other))
    .slice(-(maxEntries - 1))
  let text = ''
  do text = JSON.stringify({ entries: { ...Object.fromEntries(kept), [key]: entry } })
  while (text.length > maxBytes && kept.shift() !== undefined)
  await ensurePrivateFolder(path.dirname(file))
  await writePrivateFile(file, text)
}

/** Removes all entries, which may contain names that the next user of the terminal may not see. */
export const clearCache = (terminal: Pick<Terminal, 'env' | 'home'>): Promise<void> =>
  rm(getCachePath(terminal), { force: true })
