// Asks sentinels and cluster nodes where the masters are. A connection is kept while its server answers.
import { type OpenClient, type Place, type RedisClient, placeAt, splitPlace, within } from './redis-client.ts'
import type { SlotRange } from './redis-slots.ts'

const askMs = 1_000

export function createAsker(open: OpenClient) {
  const clients = new Map<Place, RedisClient>()
  const drop = (place: Place, client: RedisClient): void => {
    if (clients.get(place) === client) clients.delete(place)
    if (client.isOpen) client.destroy()
  }
  const connect = async (place: Place): Promise<RedisClient> => {
    const client = open(place)
    clients.set(place, client)
    client.on('error', () => drop(place, client))
    await client.connect()
    return client
  }
  /** The reply, or null when there is none in time. */
  const ask = async (place: Place, command: string[]): Promise<unknown> => {
    try {
      const asking = async (): Promise<unknown> =>
        (clients.get(place) ?? (await connect(place))).sendCommand(command)
      return await within(askMs, asking())
    } catch {
      const client = clients.get(place)
      if (client !== undefined) drop(place, client)
      return null
    }
  }
  return {
    /** The master that a sentinel names. */
    masterOf: async (sentinel: Place, name: string): Promise<Place | null> => {
      const reply = await ask(sentinel, ['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name])
      if (!Array.isArray(reply)) return null
      const [host, port] = reply as unknown[]
      return placeAt(String(host), String(port))
    },
    /** The slots and their masters as a node of the cluster knows them. */
    slotsOf: async (node: Place): Promise<SlotRange[] | null> => {
      const reply = await ask(node, ['CLUSTER', 'SLOTS'])
      if (!Array.isArray(reply) || reply.length === 0) return null
      return (reply as [number, number, [unknown, number]][])
        .map(([first, last, [host, port]]) => ({
          first,
          last,
          master: isHost(host) ? placeAt(host, port) : `${splitPlace(node).host}:${port}`,
        }))
        .toSorted((a, b) => a.first - b.first)
    },
    close: (): void => {
      for (const [place, client] of clients) drop(place, client)
    },
  }
}

/** A node that does not know its own address leaves it to the caller, who has reached it. */
const isHost = (host: unknown): host is string => typeof host === 'string' && host !== '' && host !== '?'
