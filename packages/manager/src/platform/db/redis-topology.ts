// How Redis is run: one server, a master that sentinels watch, or a cluster.
import { type Place, placeOfUrl } from './redis-client.ts'

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

/** Masters of a cluster that connections are counted for. */
const countedMasters = 16

/** Connections to Redis at most: one for commands and one for channels per master, and those that ask for masters. */
export function redisConnections(topology: Topology): number {
  if (topology.mode === 'single') return 2
  // While a master is replaced, there are connections to the former one too.
  return topology.mode === 'sentinel' ? topology.sentinels.length + 4 : countedMasters * 2 + 8
}
