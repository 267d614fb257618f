// The connections of a subscriber, one per server. One that ends or does not answer is dropped; the next one is opened
// after a while.
import { type Place, type RedisClient, within } from './redis-client.ts'
import type { Shards } from './redis.ts'

export type Connection = {
  place: Place
  client: RedisClient
  ready: Promise<unknown>
  isPinging: boolean
  receive: (message: string, channel: string) => void
}

type ConnectionOptions = {
  shards: Shards
  answerMs: number
  receive: (from: Connection, message: string, channel: string) => void
  /** A connection ended, or one of its channels did. */
  onLost: (connection: Connection, channel: string | null) => void
}

/** One connection per server; a ping tells whether it still answers. */
export function createConnections({ shards, answerMs, receive, onLost }: ConnectionOptions) {
  const connections = new Map<Place, Connection>()
  const retries = createRetries()
  const has = (connection: Connection): boolean => connections.get(connection.place) === connection
  const drop = (connection: Connection): void => {
    if (connection.client.isOpen) connection.client.destroy()
    if (!has(connection)) return
    connections.delete(connection.place)
    retries.fail(connection.place)
    onLost(connection, null)
    shards.doubt()
  }
  const open = (place: Place): Connection => {
    const client = shards.open(place)
    const ready = within(answerMs, client.connect())
    const connection: Connection = {
      place,
      client,
      ready,
      isPinging: false,
      receive: (message, channel) => receive(connection, message, channel),
    }
    connections.set(place, connection)
    client.on('error', () => drop(connection))
    client.on('sharded-channel-moved', (channel) => {
      onLost(connection, String(channel))
      shards.doubt()
    })
    ready.then(
      () => retries.succeed(place),
      () => drop(connection),
    )
    return connection
  }
  const ping = async (connection: Connection): Promise<void> => {
    if (connection.isPinging || !connection.client.isReady) return
    connection.isPinging = true
    await within(answerMs, connection.client.ping()).catch(() => drop(connection))
    connection.isPinging = false
  }
  return {
    has,
    drop,
    /** The connection to the server; null while it is too early to try again. */
    at: (place: Place): Connection | null =>
      connections.get(place) ?? (retries.isEarly(place) ? null : open(place)),
    check: (): void => {
      const masters = shards.all()
      for (const connection of connections.values())
        // A master that froze and has a successor would be waited for in vain.
        if (connection.client.isReady || masters.includes(connection.place)) void ping(connection)
        else drop(connection)
    },
    close: (): void => {
      for (const { client } of connections.values()) if (client.isOpen) client.destroy()
      connections.clear()
    },
  }
}

const retryMs = { least: 250, most: 2_000 }

/** When a server may be tried again. */
function createRetries() {
  const retries = new Map<Place, { at: number; failures: number }>()
  return {
    isEarly: (place: Place): boolean => performance.now() < (retries.get(place)?.at ?? -Infinity),
    fail: (place: Place): void => {
      const failures = (retries.get(place)?.failures ?? 0) + 1
      const ms = Math.min(retryMs.least * 2 ** (failures - 1), retryMs.most) * (0.5 + Math.random() / 2)
      retries.set(place, { at: performance.now() + ms, failures })
    },
    succeed: (place: Place): void => void retries.delete(place),
  }
}
