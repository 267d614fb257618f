// Caches values built from a project's rows, and never serves them stale. Every request first reads the
// version of its area of the project (project-version.ts), and a value with a different version is built again.
// Requests that start after an acknowledged change therefore see the change, in every process.
import { LRUCache } from 'lru-cache'

/** A built value with its project version, both read in the same snapshot. */
export type BuiltValue = { projectId: string; version: string; bytes: number }

/** How the cache names, builds and validates its values. */
export type VersionedCacheOptions<Key, Value> = {
  nameOf: (key: Key) => string
  /** Returns null if the key does not refer to a project; null is not cached. */
  build: (key: Key) => Promise<Value | null>
  /** Returns the current version of the project, read after the request for this key arrived. */
  readVersion: (projectId: string, key: Key) => string | null | Promise<string | null>
  maxBytes: number
  /** Called once per request that the cache serves, and once per build. */
  onOutcome: (outcome: 'hit' | 'miss') => void
}

// Entries expire, because changes that fire no trigger, such as a restored table or a TRUNCATE, do not change the
// version.
const maxAgeMs = 60_000
// Memory of an entry in addition to its bytes: name, ids, bookkeeping.
const entryBytes = 800

type Flight<Value> = { startedAt: number; built: Promise<Value | null> }

/** Returns a function that reads through the cache; a hit costs one coalesced read of the version. */
export function createVersionedCache<Key, Value extends BuiltValue>(
  options: VersionedCacheOptions<Key, Value>,
): (key: Key) => Promise<Value | null> {
  const memory = new LRUCache<string, Value>({
    maxSize: options.maxBytes,
    sizeCalculation: ({ bytes }) => bytes + entryBytes,
    ttl: maxAgeMs,
    ttlResolution: 1_000,
  })
  const flights = new Map<string, Flight<Value>>()
  let sequence = 0

  const startBuild = (name: string, key: Key): Flight<Value> => {
    options.onOutcome('miss')
    const build = async (): Promise<Value | null> => {
      try {
        const value = await options.build(key)
        if (value === null) memory.delete(name)
        else memory.set(name, value)
        return value
      } finally {
        flights.delete(name)
      }
    }
    const flight = { startedAt: ++sequence, built: build() }
    flights.set(name, flight)
    return flight
  }
  return async (key) => {
    const [name, arrivedAt] = [options.nameOf(key), ++sequence]
    const cachedValue = memory.get(name)
    if (
      cachedValue !== undefined &&
      (await options.readVersion(cachedValue.projectId, key)) === cachedValue.version
    ) {
      options.onOutcome('hit')
      return cachedValue
    }
    let flight = flights.get(name)
    if (flight !== undefined && flight.startedAt < arrivedAt) {
      // The build may have read before this request arrived, so its version must be compared too.
      const builtValue = await flight.built
      if (
        builtValue !== null &&
        (await options.readVersion(builtValue.projectId, key)) === builtValue.version
      )
        return builtValue
      // This build cannot be used. If another build is in flight now, it started later.
      flight = flights.get(name)
    }
    return (flight ?? startBuild(name, key)).built
  }
}
