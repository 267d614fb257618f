// Services that this process depends on. All outbound calls to these services are refused.
import { databaseHost } from '../engine-addresses.ts'
import { type RedisSettings, splitAddress, topologyOf } from '../redis/topology.ts'

/** Address of a service that outbound calls must not reach. */
export type OwnService = {
  host: string
  port: number
  /** The process can run without it. If its name does not resolve, calls to its port are still allowed. */
  isOptional?: true
}

type Addresses = RedisSettings & {
  databaseUrl: string
  healthHost: string
  healthPort: number
  /** URLs of optional services: the buckets, the trace collector and the Kubernetes API server. */
  optionalUrls: readonly string[]
}

/**
 * Returns the database, Redis with its sentinels and nodes, the health port and the optional services. `masters`
 * returns the current Redis masters.
 */
export function ownServicesOf(addresses: Addresses, masters: () => readonly string[]): Iterable<OwnService> {
  const topology = topologyOf(addresses)
  const named =
    topology.mode === 'single'
      ? [topology.address]
      : topology.mode === 'sentinel'
        ? topology.sentinels
        : topology.nodes
  const fixed = [
    databaseHost(addresses.databaseUrl),
    ...named.map(splitAddress),
    { host: addresses.healthHost, port: addresses.healthPort },
    // A Unix socket path is not a host.
  ].filter(({ host }) => host !== '' && !host.startsWith('/'))
  const optional = addresses.optionalUrls.map(serviceAt)
  const others = (): string[] => masters().filter((address) => !named.includes(address))
  return { [Symbol.iterator]: () => [...fixed, ...others().map(splitAddress), ...optional].values() }
}

function serviceAt(text: string): OwnService {
  const { hostname, port, protocol } = new URL(text)
  return { host: hostname, port: Number(port) || (protocol === 'https:' ? 443 : 80), isOptional: true }
}
