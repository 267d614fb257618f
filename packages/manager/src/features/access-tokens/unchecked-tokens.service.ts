// Tokens of an old install, whose last characters are no check of ours: whether there are any, and in which order they are
// tried. Anybody can make up such a token for a prefix they know, so few are hashed.
import { createSingleFlight } from '../../platform/cache/single-flight.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { unavailable } from '../../platform/errors.ts'
import { hasUncheckedTokens } from './access-tokens.store.ts'

const knownForMs = 5_000
const maxWaiting = 8

/** Whether the installation has tokens without a check: one lookup in 5 seconds, and only while somebody asks. */
export function createUncheckedTokens(database: Pick<Database, 'run'>): () => Promise<boolean> {
  const once = createSingleFlight<boolean>()
  let known = { any: false, until: 0 }
  return async () => {
    if (performance.now() < known.until) return known.any
    return once('any', async () => {
      const any = await hasUncheckedTokens(database.run)
      known = { any, until: performance.now() + knownForMs }
      return any
    })
  }
}

/**
 * Runs tries of one prefix one after the other, so that each knows how those before it ended; a few may wait. Tries of the
 * same name meanwhile are one.
 */
export function createTurns<T>() {
  const once = createSingleFlight<T>()
  const lines = new Map<string, { tail: Promise<unknown>; waiting: number }>()
  const queued = async (prefix: string, work: () => Promise<T>): Promise<T> => {
    const line = lines.get(prefix) ?? { tail: Promise.resolve(), waiting: 0 }
    if (line.waiting >= maxWaiting)
      throw unavailable('too many tokens with this prefix are being verified; try again')
    lines.set(prefix, line)
    line.waiting++
    const turn = line.tail.then(work)
    line.tail = turn.catch(() => undefined)
    try {
      return await turn
    } finally {
      line.waiting--
      if (line.waiting === 0) lines.delete(prefix)
    }
  }
  return (prefix: string, name: string, work: () => Promise<T>): Promise<T> =>
    once(`${prefix} ${name}`, () => queued(prefix, work))
}
