// Redis holds only what may be lost: hints and counters. Nothing here makes a request fail or wait for long.
import type { Logger } from '../log/log.ts'
import type { Metrics } from '../metrics.ts'
import { shownPlaces } from './addresses.ts'
import {
  type OpenClient,
  type Place,
  type RedisClient,
  clientsOf,
  isMisplaced,
  placeOfUrl,
  reasonOf,
} from './redis-client.ts'
import { type RedisNode, type Timeouts, createRedisNode } from './redis-node.ts'
import { type Places, createPlaces } from './redis-places.ts'
import type { Topology } from './redis-topology.ts'

/** The commands we use. */
type Commands = {
  /** The keys are of one group. */
  eval(script: string, options: { keys: string[]; arguments?: string[] }): Promise<unknown>
}

export type Redis = {
  /** False while Redis, or one master of a cluster, does not answer; callers then do without it. */
  isUp(): boolean
  /**
   * Runs a command and returns its result, or null when Redis is away, fails or does not answer in time. The first one
   * that times out marks Redis as down, so a Redis that hangs costs one short wait and not one per request.
   */
  run<T>(command: (client: Commands) => Promise<T>): Promise<T | null>
  /** The key of this name; installations that share a Redis differ in their prefix. */
  key(name: string): string
  /** Keys that one script may name together. */
  groups(keys: string[]): string[][]
  /** What channels are made of. */
  shards: Shards
  close(): Promise<void>
}

export type Shards = Pick<Places, 'of' | 'all' | 'doubt' | 'onNews'> & {
  /** A connection of one's own. */
  open: OpenClient
  /** Whether the master of the channel is known not to answer. */
  isAway(channel: string): boolean
  /** Sends a message, and rejects when it is lost; null when it cannot be sent. */
  publish(channel: string, message: string): Promise<unknown> | null
}

const defaultTimeouts: Timeouts = { pingMs: 400, commandMs: 50 }

export type RedisOptions = {
  /** Scheme, user, password and database number; and the place of a single server, the default topology. */
  url: string
  topology?: Topology
  sentinelPassword?: string | undefined
  keyPrefix: string
  /** How long a response is waited for; tests that are not about it wait longer. */
  timeouts?: Timeouts
}

/** Connects in the background, keeps trying forever, and knows within a second whether Redis answers. */
export function createRedis(
  { url, topology, sentinelPassword, keyPrefix, timeouts = defaultTimeouts }: RedisOptions,
  { log, metrics }: { log: Logger; metrics: Metrics },
): Redis {
  const open = clientsOf(url)
  const openSentinel = clientsOf(sentinelUrl(url, sentinelPassword))
  const places = createPlaces(topology ?? { mode: 'single', place: placeOfUrl(url) }, { open, openSentinel })
  const state = createState(shownPlaces(url), { log, metrics })
  const nodes = createNodes(places, { open, timeouts, note: state.note })
  const nodeOf = (key: string | undefined): RedisNode | null => {
    const place = key === undefined ? places.all()[0] : places.of(key)
    const node = place === undefined || place === null ? undefined : nodes.at(place)
    return node?.isUp() === true ? node : null
  }
  const commands: Commands = {
    eval: async (script, options) => {
      const node = nodeOf(options.keys[0])
      if (node === null) throw away
      return node.run((client: RedisClient) => client.eval(script, options))
    },
  }
  return {
    isUp: state.isUp,
    key: (name) => `${keyPrefix}:${name}`,
    groups: (keys) => places.groups(keys),
    run: async (command) => {
      try {
        return await command(commands)
      } catch (error) {
        if (isMisplaced(error)) places.doubt()
        return null
      }
    },
    shards: {
      of: (channel) => places.of(channel),
      all: () => places.all(),
      doubt: () => places.doubt(),
      onNews: (listener) => places.onNews(listener),
      open,
      isAway: (channel) => {
        const place = places.of(channel)
        return place !== null && nodes.at(place)?.isDown() === true
      },
      publish: (channel, message) =>
        nodeOf(channel)?.send((client) => client.sPublish(channel, message)) ?? null,
    },
    close: async () => {
      state.close()
      places.close()
      nodes.close()
      await Promise.resolve()
    },
  }
}

class Away extends Error {}
const away = new Away('redis is away')

/** Sentinels have a password of their own, or none. */
function sentinelUrl(url: string, password: string | undefined): string {
  const own = new URL(url)
  own.username = ''
  own.password = password === undefined ? '' : encodeURIComponent(password)
  own.pathname = ''
  return own.href
}

type Note = (answers: boolean, place: Place | null, error?: unknown) => void

/** The servers that are masters at present. */
function createNodes(
  places: Places,
  { open, timeouts, note }: { open: OpenClient; timeouts: Timeouts; note: Note },
) {
  const nodes = new Map<Place, RedisNode>()
  const noteAll = (place: Place | null, error?: unknown): void => {
    const down = [...nodes].find(([, node]) => node.isDown())
    if (nodes.size === 0) note(false, place, error ?? noMaster)
    else if (down !== undefined) note(false, down[0], error)
    else if ([...nodes.values()].every((node) => node.isUp()))
      note(true, place ?? [...nodes.keys()][0] ?? null)
  }
  const noteOf = (place: Place) => (error?: unknown) => {
    // What does not answer may be no master any more.
    if (error !== undefined && error !== null) places.doubt()
    noteAll(place, error)
  }
  const sync = (): void => {
    const masters = new Set(places.all())
    for (const [place, node] of nodes)
      if (!masters.has(place)) {
        nodes.delete(place)
        node.close()
      }
    for (const place of masters)
      if (!nodes.has(place)) nodes.set(place, createRedisNode(place, { open, timeouts, note: noteOf(place) }))
  }
  sync()
  places.onNews(() => {
    sync()
    noteAll(null)
  })
  return {
    at: (place: Place): RedisNode | undefined => nodes.get(place),
    close: (): void => {
      for (const node of nodes.values()) node.close()
    },
  }
}

const noMaster = Object.assign(new Error('no sentinel or node of the cluster names a master'), {
  code: 'NO_MASTER_KNOWN',
})

/** Whether Redis answers; one log line when it stops, or is away at the start, and one when it is back. */
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
