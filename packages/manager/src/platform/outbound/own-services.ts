// Services that this process depends on. All outbound calls to these services are refused.
import { parseDatabaseHost } from '../engine-addresses.ts'
import { type RedisSettings, splitAddress, createTopology } from '../redis/topology.ts'

/** Address of a service that outbound calls must not reach. */
export type OwnService = {
  host: string
  port: number
  /**
   * The process can run without this service. If the service's name does not resolve, calls to its port are still
   * allowed.
   */
  isOptional?: true
}

type ServiceAddresses = RedisSettings & {
  databaseUrl: string
  healthHost: string
  healthPort: number
  /** URLs of optional services: the buckets, the trace collector, the Kubernetes API server and LDAP servers. */
  optionalUrls: readonly string[]
}

/**
 * Returns the addresses of the database, Redis with its sentinels and nodes, the health port and the optional
 * services. `masters` returns the current Redis masters.
 */
export function listOwnServices(
  addresses: ServiceAddresses,
  masters: () => readonly string[],
): Iterable<OwnService> {
  const topology = createTopology(addresses)
  const configuredAddresses =
    topology.mode === 'single'
      ? [topology.address]
      : topology.mode === 'sentinel'
        ? topology.sentinels
        : topology.nodes
  const requiredServices = [
    parseDatabaseHost(addresses.databaseUrl),
    ...configuredAddresses.map(splitAddress),
    { host: addresses.healthHost, port: addresses.healthPort },
    // A Unix socket path is not a host.
  ].filter(({ host }) => host !== '' && !host.startsWith('/'))
  const optionalServices = addresses.optionalUrls.map(parseService)
  const listOtherMasters = (): string[] =>
    masters().filter((address) => !configuredAddresses.includes(address))
  return {
    [Symbol.iterator]: () =>
      [...requiredServices, ...listOtherMasters().map(splitAddress), ...optionalServices].values(),
  }
}

const defaultPorts: Record<string, number> = { 'http:': 80, 'https:': 443, 'ldap:': 389, 'ldaps:': 636 }

function parseService(text: string): OwnService {
  const { hostname, port, protocol } = new URL(text)
  return { host: hostname, port: Number(port) || (defaultPorts[protocol] ?? 80), isOptional: true }
}
