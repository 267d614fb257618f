// How Redis is run: one server, a master that sentinels watch, or a cluster.

/** Where a server listens, as `host:port`, an IPv6 address in brackets. */
export type Place = string

type RedisMode = 'single' | 'sentinel' | 'cluster'

export type Topology =
  | { mode: 'single'; place: Place }
  | { mode: 'sentinel'; sentinels: readonly Place[]; masterName: string }
  | { mode: 'cluster'; nodes: readonly Place[] }

export type RedisSettings = {
  redisMode: RedisMode
  redisUrl: string
  redisNodes: readonly Place[]
  redisMasterName?: string | undefined
}

/** What the settings describe; they have been checked together. */
export function topologyOf({ redisMode, redisUrl, redisNodes, redisMasterName }: RedisSettings): Topology {
  const place = placeOfUrl(redisUrl)
  const places = [...new Set([place, ...redisNodes])]
  if (redisMode === 'sentinel')
    return { mode: 'sentinel', sentinels: places, masterName: redisMasterName ?? '' }
  return redisMode === 'cluster' ? { mode: 'cluster', nodes: places } : { mode: 'single', place }
}

/** The place that a URL names. */
export function placeOfUrl(url: string): Place {
  const { hostname, port } = new URL(url)
  return `${hostname}:${port === '' ? '6379' : port}`
}

/** Both parts of a place; the host of an IPv6 address keeps its brackets. */
export function splitPlace(place: Place): { host: string; port: number } {
  const colon = place.lastIndexOf(':')
  return { host: place.slice(0, colon), port: Number(place.slice(colon + 1)) }
}

/** Masters of a cluster that connections are counted for. */
const countedMasters = 16

/** Connections to Redis at most: for commands and for channels, each with one that asks for the master or the slots. */
export function redisConnections({ mode }: Topology): number {
  if (mode === 'single') return 2
  // While a master is replaced, there are connections to the previous one too.
  return mode === 'sentinel' ? 6 : countedMasters * 2 + 8
}
