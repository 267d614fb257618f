// What this process itself is built on; no outbound call goes there, whatever its purpose.
import { databaseHost } from '../engine-addresses.ts'
import { type RedisSettings, splitPlace, topologyOf } from '../redis/topology.ts'

export type OwnService = {
  host: string
  port: number
  /** The process runs without it, and maybe never had it: a name that does not resolve blocks no call to its port. */
  isOptional?: true
}

type Addresses = RedisSettings & {
  databaseUrl: string
  healthHost: string
  healthPort: number
  /** Addresses of services that an installation may have: the buckets, the trace collector, the Kubernetes API server. */
  optionalUrls: readonly string[]
}

/**
 * The database, Redis with its sentinels and nodes, the health port and the optional services; `masters` are those of Redis
 * at present.
 */
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
  const optional = addresses.optionalUrls.map(serviceAt)
  const others = (): string[] => masters().filter((place) => !named.includes(place))
  return { [Symbol.iterator]: () => [...fixed, ...others().map(splitPlace), ...optional].values() }
}

function serviceAt(text: string): OwnService {
  const { hostname, port, protocol } = new URL(text)
  return { host: hostname, port: Number(port) || (protocol === 'https:' ? 443 : 80), isOptional: true }
}
