// Redis stores only what may be lost: hints and counters. Nothing here makes a request fail or wait for long.
import type { Logger } from '../log/log.ts'
import type { Metrics } from '../metrics.ts'
import { shownPlaces } from '../engine-addresses.ts'
import { type Connection, type Connections, type Master, connectionsTo } from './connections.ts'
import { type Place, type Topology, placeOfUrl } from './topology.ts'

export type Redis = {
  /** False while Redis, or one master of a cluster, does not answer; callers then do without it. */
  isUp(): boolean
  /** Whether the master of the key is known not to answer. */
  isDown(key: string): boolean
  /**
   * Runs a script and returns its result, or null when Redis is unreachable, fails or does not answer in time. The first
   * one that times out marks the master as down, so a Redis that hangs costs one short wait and not one per request.
   */
  eval(script: string, keys: string[], args?: string[]): Promise<unknown>
  /** Sends a message, and rejects when it is lost; null when it cannot be sent. */
  publish(channel: string, message: string): Promise<unknown> | null
  /** The key of this name; installations that share a Redis differ in their prefix. */
  key(name: string): string
  /** Keys that one script may name together. */
  groups(keys: string[]): string[][]
  /** Every master that is known at present. */
  masters(): readonly Place[]
  /** Opens a separate connection, for subscriptions. */
  open(): Connection
  close(): Promise<void>
}

export type RedisOptions = {
  /** Scheme, user, password and database number; and the place of a single server, the default topology. */
  url: string
  topology?: Topology
  sentinelPassword?: string | undefined
  keyPrefix: string
  /** How long a response is waited for; tests that are not about it wait longer. */
  timeouts?: { pingMs: number; commandMs: number }
}

const pingEveryMs = 500

/** Connects in the background, keeps trying forever, and knows within a second whether Redis answers. */
export function createRedis(
  { url, keyPrefix, timeouts = { pingMs: 400, commandMs: 50 }, ...options }: RedisOptions,
  deps: { log: Logger; metrics: Metrics },
): Redis {
  const topology = options.topology ?? { mode: 'single', place: placeOfUrl(url) }
  const { open, groups, mastersOf, placeOf } = connectionsTo({ ...options, url, topology })
  const connection = open()
  const state = createState(shownPlaces(url), deps)
  const breaker = createBreaker(connection, { mastersOf, pingMs: timeouts.pingMs, note: state.note })
  const answers = (key: string | undefined): boolean | undefined =>
    key === undefined ? state.isUp() : breaker.answers(placeOf(connection, key))
  return {
    isUp: state.isUp,
    isDown: (key) => answers(key) === false,
    eval: async (script, keys, args = []) => {
      if (answers(keys[0]) !== true) return null
      const result = connection.eval(script, keys.length, ...keys, ...args)
      return within(timeouts.commandMs, result).catch((error: unknown) => {
        if (error === noAnswer) breaker.trip(placeOf(connection, keys[0] ?? ''))
        return null
      })
    },
    publish: (channel, message) => (answers(channel) === true ? connection.spublish(channel, message) : null),
    key: (name) => `${keyPrefix}:${name}`,
    groups,
    masters: () => breaker.masters().map(({ place }) => place),
    open,
    close: async () => {
      state.close()
      breaker.close()
      connection.disconnect()
      await Promise.resolve()
    },
  }
}

type Note = (answers: boolean, place: Place | null, error?: unknown) => void
type BreakerOptions = { mastersOf: Connections['mastersOf']; pingMs: number; note: Note }

/** Knows of every master whether it answers: by a ping twice a second, failed connections, and commands that are late. */
function createBreaker(connection: Connection, { mastersOf, pingMs, note }: BreakerOptions) {
  const answers = new Map<Place, boolean>()
  const waiting = new Set<Place>()
  let masters = mastersOf(connection)
  const set = (place: Place, isUp: boolean, error?: unknown): void => {
    if (!masters.some((master) => master.place === place)) return
    answers.set(place, isUp)
    const down = masters.find((master) => answers.get(master.place) === false)
    if (down !== undefined) note(false, down.place, error)
    else if (masters.every((master) => answers.get(master.place) === true)) note(true, place)
  }
  const probe = async ({ place, client }: Master): Promise<void> => {
    if (client === undefined) return set(place, false, noAnswer)
    // A connection attempt reports its own failure. No ping is queued behind one that a server leaves unanswered.
    if (waiting.has(place) || (client.status !== 'ready' && client.status !== 'wait')) return
    waiting.add(place)
    const reply = client.ping().finally(() => waiting.delete(place))
    await within(pingMs, reply).then(
      () => set(place, true),
      (error: unknown) => set(place, false, error),
    )
  }
  const probeAll = (): void => {
    masters = mastersOf(connection)
    for (const master of masters) void probe(master)
  }
  connection.on('ready', probeAll)
  connection.on('error', (error: unknown) => {
    for (const { place } of masters) set(place, false, error)
    if (masters.length === 0) note(false, null, noMaster)
  })
  connection.on('close', () => {
    for (const { place } of masters) if (answers.get(place) === true) set(place, false, closed)
  })
  const timer = setInterval(probeAll, pingEveryMs).unref()
  return {
    masters: () => masters,
    answers: (place: Place | undefined) => (place === undefined ? undefined : answers.get(place)),
    trip: (place: Place | undefined) => place !== undefined && set(place, false, noAnswer),
    close: () => clearInterval(timer),
  }
}

const closed = Object.assign(new Error('the connection was closed'), { code: 'CONNECTION_CLOSED' })
const noMaster = Object.assign(new Error('no sentinel or node of the cluster names a master'), {
  code: 'NO_MASTER_KNOWN',
})

/** Whether Redis answers; one log line when it stops, or is unreachable at the start, and one when it is back. */
function createState(shown: (place: Place) => string, { log, metrics }: { log: Logger; metrics: Metrics }) {
  let up: boolean | null = null
  let closed = false
  // The start keeps the event loop busy, so the first attempt may time out though Redis is there: it takes two.
  let chances = 1
  metrics.redisDegraded.set(1)
  const note: Note = (answers, place, error) => {
    if (closed || (!answers && up === null && chances-- > 0)) return
    const redis = place === null ? 'unknown' : shown(place)
    if (answers && up === false) log.info({ redis }, 'redis answers')
    if (!answers && up !== false)
      log.warn({ redis, reason: reasonOf(error) }, 'redis does not answer; throttles count per process')
    up = answers
    metrics.redisDegraded.set(answers ? 0 : 1)
  }
  return { isUp: () => up === true, note, close: () => void (closed = true) }
}

class NoAnswer extends Error {}
const noAnswer = new NoAnswer('redis did not answer in time')

/** The result, or a rejection after `ms` milliseconds; a later result is dropped. */
export async function within<T>(ms: number, result: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    // After a busy turn of the event loop the timer fires before a response that has arrived: let it be read first.
    timer = setTimeout(() => setImmediate(reject, noAnswer), ms).unref()
  })
  try {
    return await Promise.race([result, timeout])
  } finally {
    clearTimeout(timer)
  }
}

/** ECONNREFUSED, WRONGPASS or NoAnswer, for example. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const { code, message } = error as Error & { code?: string }
  return code ?? /^[A-Z]{3,20}(?= )/.exec(message)?.[0] ?? error.constructor.name
}
