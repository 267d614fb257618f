// Writes the last use of all tokens periodically in one batch, so that authentication itself does not write.
import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import type { Logger } from '../../platform/log/log.ts'
import { writeLastUses } from './access-tokens.store.ts'

export type LastUses = { record(tokenId: string): void; close(): Promise<void> }

const writeIntervalMs = 10_000
// If more tokens are used between two writes, the additional uses are dropped. The next use of these tokens
// is recorded instead.
const maxBuffered = 50_000

/** Buffers the latest use of each token until the next write. A killed process loses only this buffer. */
export function createLastUses({ db, clock, log }: { db: Db; clock: Clock; log: Logger }): LastUses {
  let buffer = new Map<string, string>()
  /** Keeps the newest use of each token. A full buffer accepts only tokens that it already contains. */
  const add = (tokenId: string, usedAt: string): void => {
    const previousUse = buffer.get(tokenId)
    const isAccepted = previousUse === undefined ? buffer.size < maxBuffered : previousUse < usedAt
    if (isAccepted) buffer.set(tokenId, usedAt)
  }
  const write = async (): Promise<void> => {
    if (buffer.size === 0) return
    const batch = buffer
    buffer = new Map()
    await writeLastUses(db.idempotent, batch).catch((error: unknown) => {
      log.warn(
        { err: error, tokens: batch.size },
        'could not store the last-use times of tokens; the next write retries them',
      )
      // The next write retries this batch. Uses that were recorded during the failed write are newer and are kept.
      for (const [tokenId, usedAt] of batch) add(tokenId, usedAt)
    })
  }
  const timer = setInterval(() => void write(), writeIntervalMs)
  timer.unref()
  return {
    record: (tokenId) => add(tokenId, clock.now().toISOString()),
    close: async () => {
      clearInterval(timer)
      await write()
    },
  }
}
