// Opens connections to Redis with ioredis: to one server, to the master that sentinels name, or to a cluster. The
// library reconnects, queries the sentinels on every attempt, and refreshes the slots.
import { Cluster, Redis as Client, type RedisOptions } from 'ioredis'
import { computeSlot } from './slots.ts'
import { type ServerAddress, type Topology, splitAddress } from './topology.ts'

/** A connection to one server or to a cluster. */
export type Connection = Client | Cluster
/** A master server; `client` is undefined while the library has no connection to it. */
export type Master = { address: ServerAddress; client: Client | undefined }

/** Opens connections, and hides the differences between the topologies. */
export type Connections = {
  /** Connects in the background and retries until it is disconnected. */
  open(this: void): Connection
  /** Returns all masters that are currently known. */
  getMasters(this: void, connection: Connection): readonly Master[]
  /** Returns the address of the master that stores the key, or undefined while no master is known. */
  findAddress(this: void, connection: Connection, key: string): ServerAddress | undefined
  /** Groups the keys, so that one command may use all keys in a group. */
  groupKeys(this: void, keys: string[]): string[][]
}

/** Address and credentials of the servers. */
export type ConnectionOptions = {
  /** Scheme, user, password and database number, which all servers share. */
  url: string
  topology: Topology
  sentinelPassword?: string | undefined
}

const slotsIntervalMs = 2_000
const getRetryDelayMs = (tries: number): number => Math.min(50 * 2 ** tries, 1_000)

/** Returns the connections for a topology; throws if the path of the URL is not a database number. */
export function createConnections({ url, topology, sentinelPassword }: ConnectionOptions): Connections {
  const options = parseOptions(url)
  if (topology.mode === 'cluster') return createClusterConnections(topology.nodes, options)
  let address = topology.mode === 'single' ? topology.address : undefined
  const server: RedisOptions =
    topology.mode === 'single'
      ? parseHostAndPort(topology.address)
      : {
          name: topology.masterName,
          sentinels: topology.sentinels.map(parseHostAndPort),
          sentinelPassword,
          sentinelCommandTimeout: 1_000,
          sentinelRetryStrategy: getRetryDelayMs,
          updateSentinels: false,
          // The ready check reads the role, which reveals a previous master that a sentinel may still name.
          enableReadyCheck: true,
          ...(options.tls ? { enableTLSForSentinelMode: true, sentinelTLS: options.tls } : {}),
          // The library exposes the address of the master only here.
          natMap: (key: string) => {
            address = toServerAddress(key)
            return null
          },
        }
  return {
    open: () => new Client({ ...options, ...server }),
    getMasters: (client) => (address === undefined ? [] : [{ address, client: client as Client }]),
    findAddress: () => address,
    groupKeys: (keys) => [keys],
  }
}

function createClusterConnections(nodes: readonly ServerAddress[], redisOptions: RedisOptions): Connections {
  const clusterOptions = {
    redisOptions,
    shardedSubscribers: true,
    enableOfflineQueue: false,
    enableReadyCheck: false,
    slotsRefreshInterval: slotsIntervalMs,
    clusterRetryStrategy: getRetryDelayMs,
    // A failed command is not retried, because its caller does not wait.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    maxRedirections: 4,
    // The host name is kept, because a certificate names the host and not its address.
    dnsLookup: (host: string, callback: (error: null, address: string) => void) => callback(null, host),
  }
  return {
    open: () => new Cluster(nodes.map(parseHostAndPort), clusterOptions),
    getMasters: (connection) => {
      const cluster = connection as Cluster
      const clients = new Map(cluster.nodes('master').map((client) => [formatNode(client.options), client]))
      const masters = new Set(cluster.slots.flatMap(([node]) => node ?? []))
      return [...masters].map((node) => ({ address: toServerAddress(node), client: clients.get(node) }))
    },
    findAddress: (connection, key) => {
      const node = (connection as Cluster).slots[computeSlot(key)]?.[0]
      return node === undefined ? undefined : toServerAddress(node)
    },
    groupKeys: (keys) => [...Map.groupBy(keys, computeSlot).values()],
  }
}

function parseOptions(url: string): RedisOptions {
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
    // The client pings continuously. A connection that receives nothing for this long is therefore dead and is
    // reopened.
    socketTimeout: 2_000,
    // Without pings, TCP keep-alive closes a dead connection after another 10 s.
    keepAlive: 4_000,
    retryStrategy: getRetryDelayMs,
    disconnectTimeout: 100,
    enableReadyCheck: false,
    // Commands are lost with their connection. The subscriber resubscribes and handles refusals itself.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
  }
}

const formatNode = ({ host, port }: RedisOptions): string => `${host}:${port}`
/** The library expects and returns IPv6 addresses without brackets. */
const parseHostAndPort = (address: ServerAddress): { host: string; port: number } => {
  const { host, port } = splitAddress(address)
  return { host: host.replace(/^\[(.+)\]$/, '$1'), port }
}
const toServerAddress = (key: string): ServerAddress => {
  const { host, port } = splitAddress(key)
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}
