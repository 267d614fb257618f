// Lookups by unique key that most user requests need: the caller, the caller's roles, and the objects of policies.
// Concurrent requests share a prepared statement, which starts after the last of these requests arrives. Rows are
// never kept for a later request, so a revocation applies to every request that starts after it.
import { createCoalescer, orderByPosition } from './coalesce.ts'
import { getCurrentOwner } from './owner.ts'
import type { PreparedStatement, RunPrepared } from './prepared.ts'

/**
 * A prepared statement that reads at most one `Row` per key, with the `position` of the key. Its parameters are arrays,
 * one for each part of the key.
 */
export type Lookup<Row extends object> = PreparedStatement & { readonly rowType?: Row }
type LookupKey = readonly string[]
/** Returns the row with this key, or null. */
export type RunLookup = <Row extends object>(lookup: Lookup<Row>, key: LookupKey) => Promise<Row | null>
type Read = (key: { parts: LookupKey; owner: string }) => Promise<object | null>

/** Returns the function that runs the lookups of a process. */
export function createLookupRunner(run: RunPrepared): RunLookup {
  const lookups = new Map<string, { read: Read; text: string }>()
  return <Row extends object>(lookup: Lookup<Row>, parts: LookupKey) => {
    let knownLookup = lookups.get(lookup.name)
    if (knownLookup === undefined)
      lookups.set(lookup.name, (knownLookup = { read: createRead(run, lookup), text: lookup.text }))
    // If two lookups shared a name, a policy could run the wrong statement and find the wrong project.
    if (knownLookup.text !== lookup.text) throw new Error(`two lookups have the name ${lookup.name}`)
    return knownLookup.read({ parts, owner: getCurrentOwner() }) as Promise<Row | null>
  }
}

const createRead = (run: RunPrepared, lookup: PreparedStatement): Read =>
  createCoalescer({
    getKey: ({ parts }) => (parts.length === 1 ? (parts[0] as string) : JSON.stringify(parts)),
    getOwner: ({ owner }) => owner,
    // One statement at a time serves more requests than two concurrent ones, and the rows are small.
    maxConcurrent: 1,
    run: async (keys) => {
      const columns = (keys[0]?.parts ?? []).map((_, part) => keys.map(({ parts }) => parts[part]))
      return orderByPosition(keys.length, await run<{ position: number }>(lookup, columns))
    },
  })
