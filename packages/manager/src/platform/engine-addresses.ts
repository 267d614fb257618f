// Addresses of the database and Redis for logs and operators. A connection string can contain a password in many
// positions, so only values that are clearly a host, port, name or user leave this file.
import { Client } from 'pg'
import { type Topology, splitAddress } from './redis/topology.ts'

/** The parts of a database URL that are safe to show. */
export type DatabaseAddress = {
  /** Host and port, such as `db.example:5432`. */
  server: string
  name: string
  user: string
  /** Text for a log line, such as `db.example:5432/manager`. */
  label: string
  /** Text for an operator, such as `database manager on db.example:5432 as svc`. */
  description: string
}

const mask = '********'
const plainName = /^[\p{L}\p{N}_.$ @-]{1,128}$/u
const plainHost = /^[\w.:/-]{1,255}$/

/** Returns the address that the driver will connect to; throws if the driver cannot parse the URL. */
export function parseDatabaseAddress(url: string): DatabaseAddress {
  if (isAmbiguous(url))
    return {
      server: mask,
      name: mask,
      user: mask,
      label: mask,
      description: `database ${mask}: its URL has an @ after the host; percent-encode the password`,
    }
  const client = parseWithDriver(url)
  const server = formatAddress(client.host, client.port)
  const [name, user] = [
    maskUnless(plainName, client.database ?? ''),
    maskUnless(plainName, client.user ?? ''),
  ]
  return {
    server,
    name,
    user,
    label: `${server}/${name}`,
    description: `database ${name} on ${server} as ${user}`,
  }
}

/**
 * Returns the host, or the directory of a Unix socket, and the port. Throws under the same conditions as
 * `parseDatabaseAddress`.
 */
export function parseDatabaseHost(url: string): { host: string; port: number } {
  const { host, port } = parseWithDriver(url)
  return { host, port }
}

/** Returns text such as `redis on 127.0.0.1:6379` or `redis master main of sentinels on 10.0.0.1:26379`. */
export function parseRedisAddress(url: string, topology: Topology): string {
  if (isAmbiguous(url)) return `redis ${mask}: its URL has an @ after the host; percent-encode the password`
  const formatServer = createAddressFormatter(url)
  if (topology.mode === 'single') return `redis on ${formatServer(topology.address)}`
  return topology.mode === 'cluster'
    ? `redis cluster with nodes on ${topology.nodes.map(formatServer).join(', ')}`
    : `redis master ${maskUnless(plainName, topology.masterName)} of sentinels on ${topology.sentinels.map(formatServer).join(', ')}`
}

/**
 * Returns a function that formats server addresses for log lines. The function masks addresses that may contain parts
 * of a password.
 */
export const createAddressFormatter =
  (url: string) =>
  (address: string): string => {
    const { host, port } = splitAddress(address)
    return isAmbiguous(url) ? mask : formatAddress(host.replace(/^\[(.+)\]$/, '$1'), port)
  }

/**
 * Lets the driver parse the URL, because query parameters and variables such as PGHOST also apply. Does not connect.
 */
function parseWithDriver(url: string): Client {
  try {
    return new Client({ connectionString: url })
  } catch {
    throw new Error(
      'SVC_DATABASE_URL (database.url) cannot be used: percent-encode its user, password and name, and check the files it names',
    )
  }
}

/**
 * A password with an unencoded / or ? ends the host early: the parser reads its start as the port and the rest as the
 * database name.
 */
function isAmbiguous(url: string): boolean {
  const { pathname, search, hash } = new URL(url)
  return `${pathname}${search}${hash}`.includes('@')
}

function formatAddress(host: string, port: number): string {
  const visibleHost = maskUnless(plainHost, host)
  if (visibleHost.startsWith('/')) return visibleHost
  return `${visibleHost.includes(':') ? `[${visibleHost}]` : visibleHost}:${port}`
}

const maskUnless = (pattern: RegExp, text: string): string => (pattern.test(text) ? text : mask)
