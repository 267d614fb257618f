// Opens connections to Redis by ioredis: to one server, to the master that sentinels name, or to a cluster. The library
// reconnects, asks the sentinels at every attempt, and refreshes the slots.
import { Cluster, Redis as Client, type RedisOptions } from 'ioredis'
import { slotOf } from './slots.ts'
import { type Place, type Topology, splitPlace } from './topology.ts'

export type Connection = Client | Cluster
/** Without a client while the library has no connection to it. */
export type Master = { place: Place; client: Client | undefined }

export type Connections = {
  /** Connects in the background and retries until it is disconnected. */
  open(this: void): Connection
  /** Every master that is known at present. */
  mastersOf(this: void, connection: Connection): readonly Master[]
  /** Where the key is; undefined while no master is known. */
  placeOf(this: void, connection: Connection, key: string): Place | undefined
  /** Keys that one command may name together. */
  groups(this: void, keys: string[]): string[][]
}

export type ConnectionOptions = {
  /** Scheme, user, password and database number, which all servers share. */
  url: string
  topology: Topology
  sentinelPassword?: string | undefined
}

const slotsEveryMs = 2_000
const retryMs = (tries: number): number => Math.min(50 * 2 ** tries, 1_000)

export function connectionsTo({ url, topology, sentinelPassword }: ConnectionOptions): Connections {
  const options = optionsOf(url)
  if (topology.mode === 'cluster') return clusterOf(topology.nodes, options)
  let place = topology.mode === 'single' ? topology.place : undefined
  const server: RedisOptions =
    topology.mode === 'single'
      ? addressOf(topology.place)
      : {
          name: topology.masterName,
          sentinels: topology.sentinels.map(addressOf),
          sentinelPassword,
          sentinelCommandTimeout: 1_000,
          sentinelRetryStrategy: retryMs,
          updateSentinels: false,
          // The role tells a former master, which a sentinel may still name.
          enableReadyCheck: true,
          ...(options.tls ? { enableTLSForSentinelMode: true, sentinelTLS: options.tls } : {}),
          // The library names the master nowhere else.
          natMap: (key: string) => {
            place = placeOfNode(key)
            return null
          },
        }
  return {
    open: () => new Client({ ...options, ...server }),
    mastersOf: (client) => (place === undefined ? [] : [{ place, client: client as Client }]),
    placeOf: () => place,
    groups: (keys) => [keys],
  }
}

function clusterOf(nodes: readonly Place[], redisOptions: RedisOptions): Connections {
  const clusterOptions = {
    redisOptions,
    shardedSubscribers: true,
    enableOfflineQueue: false,
    enableReadyCheck: false,
    slotsRefreshInterval: slotsEveryMs,
    clusterRetryStrategy: retryMs,
    // A command that fails is lost: its caller does not wait for another try.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    maxRedirections: 4,
    // A certificate names the host, not its address.
    dnsLookup: (host: string, callback: (error: null, address: string) => void) => callback(null, host),
  }
  return {
    open: () => new Cluster(nodes.map(addressOf), clusterOptions),
    mastersOf: (connection) => {
      const cluster = connection as Cluster
      const clients = new Map(cluster.nodes('master').map((client) => [nodeOf(client.options), client]))
      const masters = new Set(cluster.slots.flatMap(([node]) => node ?? []))
      return [...masters].map((node) => ({ place: placeOfNode(node), client: clients.get(node) }))
    },
    placeOf: (connection, key) => {
      const node = (connection as Cluster).slots[slotOf(key)]?.[0]
      return node === undefined ? undefined : placeOfNode(node)
    },
    groups: (keys) => [...Map.groupBy(keys, slotOf).values()],
  }
}

function optionsOf(url: string): RedisOptions {
  const { protocol, username, password, pathname } = new URL(url)
  const db = Number(pathname.slice(1))
  if (Number.isNaN(db)) throw new TypeError('the path of SVC_REDIS_URL (redis.url) must be a database number')
  return {
    ...(username === '' ? {} : { username: decodeURIComponent(username) }),
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' ? { tls: {} } : {}),
    db,
    protocol: 3,
    connectTimeout: 1_000,
    // Pings go out all the time; a connection that brings nothing for this long is dead and is opened again.
    socketTimeout: 2_000,
    // A dead connection that carries no pings ends after ten seconds more.
    keepAlive: 4_000,
    retryStrategy: retryMs,
    disconnectTimeout: 100,
    enableReadyCheck: false,
    // Commands are lost with their connection; the subscriber itself subscribes again and handles refusals.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
  }
}

const nodeOf = ({ host, port }: RedisOptions): string => `${host}:${port}`
/** The library takes and names IPv6 addresses without brackets. */
const addressOf = (place: Place): { host: string; port: number } => {
  const { host, port } = splitPlace(place)
  return { host: host.replace(/^\[(.+)\]$/, '$1'), port }
}
const placeOfNode = (key: string): Place => {
  const { host, port } = splitPlace(key)
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}
