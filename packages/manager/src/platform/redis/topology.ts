// Redis topologies: one server, a master that sentinels watch, or a cluster.

/** The address of a server as `host:port`, with IPv6 addresses in brackets. */
export type ServerAddress = string

type RedisMode = 'single' | 'sentinel' | 'cluster'

/** The servers to connect to. */
export type Topology =
  | { mode: 'single'; address: ServerAddress }
  | { mode: 'sentinel'; sentinels: readonly ServerAddress[]; masterName: string }
  | { mode: 'cluster'; nodes: readonly ServerAddress[] }

/** The settings that determine the topology. */
export type RedisSettings = {
  redisMode: RedisMode
  redisUrl: string
  redisNodes: readonly ServerAddress[]
  redisMasterName?: string | undefined
}

/** Returns the topology for settings that have been validated together. */
export function createTopology({
  redisMode,
  redisUrl,
  redisNodes,
  redisMasterName,
}: RedisSettings): Topology {
  const address = parseUrlAddress(redisUrl)
  const addresses = [...new Set([address, ...redisNodes])]
  if (redisMode === 'sentinel')
    return { mode: 'sentinel', sentinels: addresses, masterName: redisMasterName ?? '' }
  return redisMode === 'cluster' ? { mode: 'cluster', nodes: addresses } : { mode: 'single', address }
}

/** Returns the address in a URL; the default port is 6379. */
export function parseUrlAddress(url: string): ServerAddress {
  const { hostname, port } = new URL(url)
  return `${hostname}:${port === '' ? '6379' : port}`
}

/** Splits an address into host and port; an IPv6 host keeps its brackets. */
export function splitAddress(address: ServerAddress): { host: string; port: number } {
  const colon = address.lastIndexOf(':')
  return { host: address.slice(0, colon), port: Number(address.slice(colon + 1)) }
}

/** Assumed maximum number of masters in a cluster. */
const assumedMasters = 16

/** Returns the maximum number of connections to Redis, including those that query the master or the slots. */
export function countRedisConnections({ mode }: Topology): number {
  if (mode === 'single') return 2
  // During a failover there are also connections to the previous master.
  return mode === 'sentinel' ? 6 : assumedMasters * 2 + 8
}
