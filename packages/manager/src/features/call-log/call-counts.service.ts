// How many calls are logged, as text for refusals such as "3 logged ESB requests"; null when none was served: a
// refused call does not prevent a deletion. The transaction must have locked what was called and who called: a
// first call waits for these locks.
import type { Tx } from '../../platform/postgres/handles.ts'
import * as store from './logged-calls.store.ts'

const maxCounted = 100_000

const inWords =
  (count: (tx: Tx, id: string, most: number) => Promise<number>) =>
  async (tx: Tx, id: string): Promise<string | null> => {
    const calls = await count(tx, id, maxCounted + 1)
    if (calls === 0) return null
    const amount = calls > maxCounted ? `more than ${maxCounted}` : calls
    return `${amount} logged ESB ${calls === 1 ? 'request' : 'requests'}`
  }

export const callCounts = {
  countByEndpoint: inWords(store.countByEndpoint),
  countByApplication: inWords(store.countByApplication),
  countByMachineUser: inWords(store.countByMachineUser),
}
