// Caches what is built from a project's rows, and never serves it stale: every request reads the version of the
// project's area first, and what was built under another version is built again. A change is therefore seen by every
// request, in every process, that starts after the change is answered.
import { LRUCache } from 'lru-cache'

/** Something built, with the version of the project it was read under, in the same snapshot. */
export type Built = { projectId: string; version: string; bytes: number }

export type VersionedCacheOptions<Key, Value> = {
  nameOf: (key: Key) => string
  /** Null when the key names nothing, not even a project; that is not cached. */
  build: (key: Key) => Promise<Value | null>
  /** The version of the project now, read after the request for this key arrived. */
  readVersion: (projectId: string, key: Key) => string | null | Promise<string | null>
  maxBytes: number
  /** Called once per request that was served from the cache, and once per build. */
  onOutcome: (outcome: 'hit' | 'miss') => void
}

// What fires no trigger, such as a restored table or a TRUNCATE, changes no version.
const maxAgeMs = 60_000
// What an entry costs beside its bytes: name, ids, bookkeeping.
const entryBytes = 800

type Flight<Value> = { begun: number; built: Promise<Value | null> }

/** Returns a function that reads through the cache; a hit costs one coalesced read of the version. */
export function createVersionedCache<Key, Value extends Built>(
  options: VersionedCacheOptions<Key, Value>,
): (key: Key) => Promise<Value | null> {
  const memory = new LRUCache<string, Value>({
    maxSize: options.maxBytes,
    sizeCalculation: ({ bytes }) => bytes + entryBytes,
    ttl: maxAgeMs,
    ttlResolution: 1_000,
  })
  const flights = new Map<string, Flight<Value>>()
  let moment = 0

  const begin = (name: string, key: Key): Flight<Value> => {
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
    const flight = { begun: ++moment, built: build() }
    flights.set(name, flight)
    return flight
  }
  return async (key) => {
    const [name, arrived] = [options.nameOf(key), ++moment]
    const kept = memory.get(name)
    if (kept !== undefined && (await options.readVersion(kept.projectId, key)) === kept.version) {
      options.onOutcome('hit')
      return kept
    }
    let flight = flights.get(name)
    if (flight !== undefined && flight.begun < arrived) {
      // It may have read before this request arrived, so what it brings must be compared too.
      const built = await flight.built
      if (built !== null && (await options.readVersion(built.projectId, key)) === built.version) return built
      // A build that is in flight now began later.
      flight = flights.get(name)
    }
    return (flight ?? begin(name, key)).built
  }
}
