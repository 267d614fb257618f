// The project, app, environment and tenant that a command uses. A command that writes prints them first, because they
// may come from an environment variable or from a linked folder.
import type { Connection } from '@manager/client'
import { escapeControlCharacters } from './printable.ts'
import type { Terminal } from './terminal.ts'

export type UsedKind = 'project' | 'app' | 'environment' | 'tenant'
/** `source` is the variable or the linked folder that names the object, or null if an option names it. */
type UsedObject = { name: string; source: string | null }
type Run = { used: Map<UsedKind, UsedObject>; isAnnounced: boolean }

/** The program has one terminal per run. */
const runs = new WeakMap<Terminal, Run>()

export function recordUse(terminal: Terminal, kind: UsedKind, object: UsedObject): void {
  const run = runs.get(terminal) ?? { used: new Map(), isAnnounced: false }
  run.used.set(kind, object)
  runs.set(terminal, run)
}

/** Prints the used objects once, to standard error. */
export function announceUse(terminal: Terminal): void {
  const run = runs.get(terminal)
  if (run === undefined || run.isAnnounced) return
  run.isAnnounced = true
  const parts = [...run.used].map(
    ([kind, { name, source }]) => `${kind} ${name}${source === null ? '' : ` (${source})`}`,
  )
  terminal.stderr.write(`${escapeControlCharacters(`Using ${parts.join(', ')}.`)}\n`)
}

/** Returns a connection that announces the used objects before its first write. */
export function announceWrites(terminal: Terminal, connection: Connection): Connection {
  return {
    ...connection,
    fetch: (input, init) => {
      if (isWrite(init)) announceUse(terminal)
      return connection.fetch(input, init)
    },
  }
}

const startsChange = (line: string): boolean => /^mutation\b(?! previewESBTransform\b)/.test(line.trimStart())

/**
 * Whether the request can change something. A GraphQL query is sent with POST, but changes nothing, and a preview is a
 * mutation that changes nothing.
 */
function isWrite({ method = 'GET', body }: RequestInit = {}): boolean {
  if (method === 'GET' || method === 'HEAD') return false
  if (typeof body !== 'string') return true
  try {
    const { query } = JSON.parse(body) as { query?: unknown }
    return typeof query !== 'string' || query.split('\n').some(startsChange)
  } catch {
    return true
  }
}
