// These functions return the number of logged calls as text for error messages, such as "3 logged ESB requests". They
// return null if no call was served, because rejected calls do not prevent a deletion. The transaction must have locked
// the entity that it deletes: a first call waits for this lock.
import type { Tx } from '../../platform/postgres/handles.ts'
import * as store from './logged-calls.store.ts'

const maxCounted = 100_000

const asText =
  (count: (tx: Tx, id: string, most: number) => Promise<number>) =>
  async (tx: Tx, id: string): Promise<string | null> => {
    const calls = await count(tx, id, maxCounted + 1)
    if (calls === 0) return null
    const amount = calls > maxCounted ? `more than ${maxCounted}` : calls
    return `${amount} logged ESB ${calls === 1 ? 'request' : 'requests'}`
  }

export const callCounts = {
  countByEndpoint: asText(store.countByEndpoint),
  countByApplication: asText(store.countByApplication),
  countByMachineUser: asText(store.countByMachineUser),
}
