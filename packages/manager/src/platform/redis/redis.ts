// Redis is used only for data that may be lost: counters, and messages between processes. A Redis outage never makes a
// request fail or wait long.
import type { Logger } from '../log/log.ts'
import type { Metrics } from '../metrics.ts'
import { createAddressFormatter } from '../engine-addresses.ts'
import { type Connection, type Connections, type Master, createConnections } from './connections.ts'
import { type ServerAddress, type Topology, parseUrlAddress } from './topology.ts'

/** A Redis client that fails fast while Redis does not respond. */
export type Redis = {
  /** False while Redis, or one master of a cluster, does not respond; callers then work without it. */
  isUp(): boolean
  /** Whether the master of the key is known to be down. */
  isDown(key: string): boolean
  /**
   * Runs a script and returns its result, or null if Redis is unreachable, fails or times out. The first timeout marks
   * the master as down. A Redis that hangs therefore costs one short wait, not one per request.
   */
  eval(script: string, keys: string[], args?: string[]): Promise<unknown>
  /** Sends a message and rejects if it is lost. Returns null if it cannot be sent. */
  publish(channel: string, message: string): Promise<unknown> | null
  /** Returns the prefixed key for a name. Installations that share a Redis have different prefixes. */
  key(name: string): string
  /** Groups the keys, so that one script may use all keys in a group. */
  groupKeys(keys: string[]): string[][]
  /** Returns the addresses of all masters that are currently known. */
  masters(): readonly ServerAddress[]
  /** Opens a separate connection, for subscriptions. */
  open(): Connection
  close(): Promise<void>
}

/** Address, credentials and timeouts. */
export type RedisOptions = {
  /** Scheme, user, password and database number, and the address of a single server, which is the default topology. */
  url: string
  topology?: Topology
  sentinelPassword?: string | undefined
  keyPrefix: string
  /** Response timeouts; tests that do not cover timeouts use longer ones. */
  timeouts?: { pingMs: number; commandMs: number }
}

const pingIntervalMs = 500

/** Connects in the background, retries forever, and detects within 1 s whether Redis responds. */
export function createRedis(
  { url, keyPrefix, timeouts = { pingMs: 400, commandMs: 50 }, ...options }: RedisOptions,
  deps: { log: Logger; metrics: Metrics },
): Redis {
  const topology = options.topology ?? { mode: 'single', address: parseUrlAddress(url) }
  const { open, groupKeys, getMasters, findAddress } = createConnections({ ...options, url, topology })
  const connection = open()
  const state = createState(createAddressFormatter(url), deps)
  const breaker = createBreaker(connection, {
    mastersOf: getMasters,
    pingMs: timeouts.pingMs,
    recordState: state.recordState,
  })
  const isMasterUp = (key: string | undefined): boolean | undefined =>
    key === undefined ? state.isUp() : breaker.isUp(findAddress(connection, key))
  return {
    isUp: state.isUp,
    isDown: (key) => isMasterUp(key) === false,
    eval: async (script, keys, args = []) => {
      if (isMasterUp(keys[0]) !== true) return null
      const result = connection.eval(script, keys.length, ...keys, ...args)
      return withTimeout(timeouts.commandMs, result).catch((error: unknown) => {
        if (error === responseTimeout) breaker.trip(findAddress(connection, keys[0] ?? ''))
        return null
      })
    },
    publish: (channel, message) =>
      isMasterUp(channel) === true ? connection.spublish(channel, message) : null,
    key: (name) => `${keyPrefix}:${name}`,
    groupKeys,
    masters: () => breaker.masters().map(({ address }) => address),
    open,
    close: async () => {
      state.close()
      breaker.close()
      connection.disconnect()
      await Promise.resolve()
    },
  }
}

type RecordState = (isUp: boolean, address: ServerAddress | null, error?: unknown) => void
type BreakerOptions = { mastersOf: Connections['getMasters']; pingMs: number; recordState: RecordState }

/** Tracks whether each master responds, by a ping twice per second, failed connections and command timeouts. */
function createBreaker(connection: Connection, { mastersOf, pingMs, recordState }: BreakerOptions) {
  const states = new Map<ServerAddress, boolean>()
  const pendingPings = new Set<ServerAddress>()
  let masters = mastersOf(connection)
  const setState = (address: ServerAddress, isUp: boolean, error?: unknown): void => {
    if (!masters.some((master) => master.address === address)) return
    states.set(address, isUp)
    const downMaster = masters.find((master) => states.get(master.address) === false)
    if (downMaster !== undefined) recordState(false, downMaster.address, error)
    else if (masters.every((master) => states.get(master.address) === true)) recordState(true, address)
  }
  const probe = async ({ address, client }: Master): Promise<void> => {
    if (client === undefined) return setState(address, false, responseTimeout)
    // A connection attempt reports its own failure. While a ping is pending, no further ping is queued behind it.
    if (pendingPings.has(address) || (client.status !== 'ready' && client.status !== 'wait')) return
    pendingPings.add(address)
    const reply = client.ping().finally(() => pendingPings.delete(address))
    await withTimeout(pingMs, reply).then(
      () => setState(address, true),
      (error: unknown) => setState(address, false, error),
    )
  }
  const probeAll = (): void => {
    masters = mastersOf(connection)
    for (const master of masters) void probe(master)
  }
  connection.on('ready', probeAll)
  connection.on('error', (error: unknown) => {
    for (const { address } of masters) setState(address, false, error)
    if (masters.length === 0) recordState(false, null, noMasterError)
  })
  connection.on('close', () => {
    for (const { address } of masters) if (states.get(address) === true) setState(address, false, closedError)
  })
  const timer = setInterval(probeAll, pingIntervalMs).unref()
  return {
    masters: () => masters,
    isUp: (address: ServerAddress | undefined) => (address === undefined ? undefined : states.get(address)),
    trip: (address: ServerAddress | undefined) =>
      address !== undefined && setState(address, false, responseTimeout),
    close: () => clearInterval(timer),
  }
}

const closedError = Object.assign(new Error('the connection was closed'), { code: 'CONNECTION_CLOSED' })
const noMasterError = Object.assign(new Error('no sentinel or cluster node reports a master'), {
  code: 'NO_MASTER_KNOWN',
})

/** Logs one line when Redis stops responding or is unreachable at startup, and one line when it responds again. */
function createState(
  formatAddress: (address: ServerAddress) => string,
  { log, metrics }: { log: Logger; metrics: Metrics },
) {
  let lastState: boolean | null = null
  let isClosed = false
  // The first failure is ignored: startup keeps the event loop busy, so a ping may time out even though Redis is up.
  let failuresToIgnore = 1
  metrics.redisDegraded.set(1)
  const recordState: RecordState = (isUp, address, error) => {
    if (isClosed || (!isUp && lastState === null && failuresToIgnore-- > 0)) return
    const redis = address === null ? 'unknown' : formatAddress(address)
    if (isUp && lastState === false) log.info({ redis }, 'redis is available again')
    if (!isUp && lastState !== false)
      log.warn({ redis, reason: getErrorReason(error) }, 'redis is unavailable; throttles count per process')
    lastState = isUp
    metrics.redisDegraded.set(isUp ? 0 : 1)
  }
  return { isUp: () => lastState === true, recordState, close: () => void (isClosed = true) }
}

class ResponseTimeout extends Error {}
const responseTimeout = new ResponseTimeout('redis did not respond in time')

/** Returns the result, or rejects after `ms` milliseconds; a later result is dropped. */
export async function withTimeout<T>(ms: number, result: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    // After a busy event loop turn, the timer fires before a response that has already arrived is read. `setImmediate`
    // lets the response be read first.
    timer = setTimeout(() => setImmediate(reject, responseTimeout), ms).unref()
  })
  try {
    return await Promise.race([result, timeout])
  } finally {
    clearTimeout(timer)
  }
}

/** Returns a short reason for logs, such as ECONNREFUSED, WRONGPASS or ResponseTimeout. */
export function getErrorReason(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const { code, message } = error as Error & { code?: string }
  return code ?? /^[A-Z]{3,20}(?= )/.exec(message)?.[0] ?? error.constructor.name
}
