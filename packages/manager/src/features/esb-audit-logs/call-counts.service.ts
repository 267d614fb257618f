// How many calls are logged, in words for refusals such as "3 logged ESB requests"; null without one that was served: a
// refused one holds nothing. What was called and
// who called must be locked by the transaction: a first call waits for these locks.
import type { Tx } from '../../platform/db/database.ts'
import * as store from './esb-audit-logs.store.ts'

const maxCounted = 100_000

const inWords =
  (count: (tx: Tx, id: string, most: number) => Promise<number>) =>
  async (tx: Tx, id: string): Promise<string | null> => {
    const calls = await count(tx, id, maxCounted + 1)
    if (calls === 0) return null
    const shown = calls > maxCounted ? `more than ${maxCounted}` : calls
    return `${shown} logged ESB ${calls === 1 ? 'request' : 'requests'}`
  }

export const callCounts = {
  countByEndpoint: inWords(store.countByEndpoint),
  countByApplication: inWords(store.countByApplication),
  countByMachineUser: inWords(store.countByMachineUser),
}
