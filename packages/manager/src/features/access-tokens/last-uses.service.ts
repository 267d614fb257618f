// When tokens were last used, written at intervals for all of them together: authentication itself writes nothing.
import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import type { Logger } from '../../platform/log/log.ts'
import { writeLastUses } from './access-tokens.store.ts'

export type LastUses = { note(tokenId: string): void; close(): Promise<void> }

const writeEveryMs = 10_000
// More tokens than this between two writes: the rest is noted at their next use.
const maxNoted = 50_000

/** Holds each token's latest use until the next write; a process that is killed loses at most those. */
export function createLastUses({ db, clock, log }: { db: Db; clock: Clock; log: Logger }): LastUses {
  let noted = new Map<string, string>()
  const write = async (): Promise<void> => {
    if (noted.size === 0) return
    const batch = noted
    noted = new Map()
    await writeLastUses(db.idempotent, batch).catch((error: unknown) => {
      log.warn({ err: error, tokens: batch.size }, 'last uses of tokens could not be written')
      // The next write tries again; what was used since is newer.
      noted = new Map([...batch, ...noted].slice(-maxNoted))
    })
  }
  const timer = setInterval(() => void write(), writeEveryMs)
  timer.unref()
  return {
    note: (tokenId) => {
      if (noted.size < maxNoted) noted.set(tokenId, clock.now().toISOString())
    },
    close: async () => {
      clearInterval(timer)
      await write()
    },
  }
}
