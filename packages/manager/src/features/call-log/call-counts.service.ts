// These functions return the number of logged calls as text for error messages, such as "3 logged ESB requests". They
// return null if no call was served, because rejected calls do not prevent a deletion. The transaction must already
// have locked the entity that it deletes, because the first call of a caller waits for this lock.
import type { Tx } from '../../platform/postgres/handles.ts'
import * as store from './logged-calls.store.ts'

const maxCount = 100_000

const createCounter =
  (count: (tx: Tx, id: string, limit: number) => Promise<number>) =>
  async (tx: Tx, id: string): Promise<string | null> => {
    const callCount = await count(tx, id, maxCount + 1)
    if (callCount === 0) return null
    const amountText = callCount > maxCount ? `more than ${maxCount}` : callCount
    return `${amountText} logged ESB ${callCount === 1 ? 'request' : 'requests'}`
  }

export const callCounts = {
  countByEndpoint: createCounter(store.countByEndpoint),
  countByApplication: createCounter(store.countByApplication),
  countByMachineUser: createCounter(store.countByMachineUser),
}
