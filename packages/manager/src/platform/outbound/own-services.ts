// What this process itself is built on; no outbound call goes there, whatever its purpose.
import { databaseHost } from '../db/addresses.ts'
import { splitPlace } from '../db/redis-client.ts'
import { type RedisSettings, topologyOf } from '../db/redis-topology.ts'

export type OwnService = { host: string; port: number }

type Addresses = RedisSettings & { databaseUrl: string; healthHost: string; healthPort: number }

/** The database, Redis with its sentinels and nodes, and the health port; `masters` are those of Redis at present. */
export function ownServicesOf(addresses: Addresses, masters: () => readonly string[]): Iterable<OwnService> {
  const topology = topologyOf(addresses)
  const named =
    topology.mode === 'single'
      ? [topology.place]
      : topology.mode === 'sentinel'
        ? topology.sentinels
        : topology.nodes
  const fixed = [
    databaseHost(addresses.databaseUrl),
    ...named.map(splitPlace),
    { host: addresses.healthHost, port: addresses.healthPort },
    // A socket file is no host.
  ].filter(({ host }) => host !== '' && !host.startsWith('/'))
  const others = (): string[] => masters().filter((place) => !named.includes(place))
  return { [Symbol.iterator]: () => [...fixed, ...others().map(splitPlace)].values() }
}
