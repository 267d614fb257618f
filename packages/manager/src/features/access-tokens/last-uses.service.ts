// The last use of all tokens is written periodically in one batch, so authentication itself does not write.
import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import type { Logger } from '../../platform/log/log.ts'
import { writeLastUses } from './access-tokens.store.ts'

export type LastUses = { record(tokenId: string): void; close(): Promise<void> }

const writeEveryMs = 10_000
// If more tokens are used between two writes, the uses of the additional tokens are dropped. Their next use is recorded
// instead.
const maxBuffered = 50_000

/** Buffers the latest use of each token until the next write. A killed process loses only this buffer. */
export function createLastUses({ db, clock, log }: { db: Db; clock: Clock; log: Logger }): LastUses {
  let buffer = new Map<string, string>()
  /** Keeps the newest use of each token. A full buffer accepts only tokens that it already contains. */
  const add = (tokenId: string, usedAt: string): void => {
    const known = buffer.get(tokenId)
    const isAccepted = known === undefined ? buffer.size < maxBuffered : known < usedAt
    if (isAccepted) buffer.set(tokenId, usedAt)
  }
  const write = async (): Promise<void> => {
    if (buffer.size === 0) return
    const batch = buffer
    buffer = new Map()
    await writeLastUses(db.idempotent, batch).catch((error: unknown) => {
      log.warn({ err: error, tokens: batch.size }, 'could not write the last use of tokens')
      // The next write retries this batch. Uses that were recorded since then are newer and win.
      for (const [tokenId, usedAt] of batch) add(tokenId, usedAt)
    })
  }
  const timer = setInterval(() => void write(), writeEveryMs)
  timer.unref()
  return {
    record: (tokenId) => add(tokenId, clock.now().toISOString()),
    close: async () => {
      clearInterval(timer)
      await write()
    },
  }
}
