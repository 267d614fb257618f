// Lookups by unique key that requests of people repeat: the caller, the caller's roles, and the objects that policies
// name. Concurrent requests share a prepared statement, which starts after the last of them. Rows are never kept for a
// later request, so a revocation applies to every request that starts after it.
import { createCoalesced, orderByPosition } from './coalesce.ts'
import { getCurrentOwner } from './owner.ts'
import type { PreparedStatement, RunPrepared } from './prepared.ts'

/**
 * A prepared statement that reads at most one `Row` per key, with the `position` of the key. Its parameters are arrays,
 * one for each part of the key.
 */
export type Lookup<Row extends object> = PreparedStatement & { readonly rowType?: Row }
type LookupKey = readonly string[]
/** Returns the row with this key, or null. */
export type LookUp = <Row extends object>(lookup: Lookup<Row>, key: LookupKey) => Promise<Row | null>
type Read = (key: { parts: LookupKey; owner: string }) => Promise<object | null>

/** Returns the function that runs the lookups of a process. */
export function createLookUp(run: RunPrepared): LookUp {
  const lookups = new Map<string, { read: Read; text: string }>()
  return <Row extends object>(lookup: Lookup<Row>, parts: LookupKey) => {
    let known = lookups.get(lookup.name)
    if (known === undefined)
      lookups.set(lookup.name, (known = { read: createRead(run, lookup), text: lookup.text }))
    // A policy that ran the statement of another lookup could find the wrong project.
    if (known.text !== lookup.text) throw new Error(`two lookups have the name ${lookup.name}`)
    return known.read({ parts, owner: getCurrentOwner() }) as Promise<Row | null>
  }
}

const createRead = (run: RunPrepared, lookup: PreparedStatement): Read =>
  createCoalesced({
    getKey: ({ parts }) => (parts.length === 1 ? (parts[0] as string) : JSON.stringify(parts)),
    getOwner: ({ owner }) => owner,
    // One statement at a time serves more requests than two, and its rows are small.
    maxConcurrent: 1,
    run: async (keys) => {
      const columns = (keys[0]?.parts ?? []).map((_, part) => keys.map(({ parts }) => parts[part]))
      return orderByPosition(keys.length, await run<{ position: number }>(lookup, columns))
    },
  })
