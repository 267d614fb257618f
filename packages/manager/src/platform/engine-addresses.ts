// Where the engines are, for people to read. A connection string holds a password, in one of many places: only what is
// plainly a host, a port, a name or a user leaves this file.
import { Client } from 'pg'
import { type Topology, splitPlace } from './redis/topology.ts'

export type DatabaseAddress = {
  /** Such as `db.example:5432`. */
  place: string
  name: string
  user: string
  /** For a log line, such as `db.example:5432/manager`. */
  label: string
  /** For an operator, such as `database manager on db.example:5432 as svc`. */
  sentence: string
}

const mask = '********'
const plainName = /^[\p{L}\p{N}_.$ @-]{1,128}$/u
const plainHost = /^[\w.:/-]{1,255}$/

/** Where the driver will connect to; throws one sentence when it cannot read the URL. */
export function databaseAddress(url: string): DatabaseAddress {
  if (isAmbiguous(url))
    return {
      place: mask,
      name: mask,
      user: mask,
      label: mask,
      sentence: `database ${mask}: its URL has an @ behind the host; percent-encode what the password holds`,
    }
  const driver = readByDriver(url)
  const place = placeOf(driver.host, driver.port)
  const [name, user] = [plain(plainName, driver.database ?? ''), plain(plainName, driver.user ?? '')]
  return { place, name, user, label: `${place}/${name}`, sentence: `database ${name} on ${place} as ${user}` }
}

/** The host that the driver will connect to, or the folder of a socket file; it throws as `databaseAddress` does. */
export function databaseHost(url: string): { host: string; port: number } {
  const { host, port } = readByDriver(url)
  return { host, port }
}

/** Such as `redis on 127.0.0.1:6379`, or `redis master main of sentinels on 10.0.0.1:26379, 10.0.0.2:26379`. */
export function redisAddress(url: string, topology: Topology): string {
  if (isAmbiguous(url))
    return `redis ${mask}: its URL has an @ behind the host; percent-encode what the password holds`
  const shown = shownPlaces(url)
  if (topology.mode === 'single') return `redis on ${shown(topology.place)}`
  return topology.mode === 'cluster'
    ? `redis cluster with nodes on ${topology.nodes.map(shown).join(', ')}`
    : `redis master ${plain(plainName, topology.masterName)} of sentinels on ${topology.sentinels.map(shown).join(', ')}`
}

/** Places of servers for a log line, such as `127.0.0.1:6379`; the URL is the one that leads to them. */
export const shownPlaces =
  (url: string) =>
  (place: string): string => {
    const { host, port } = splitPlace(place)
    return isAmbiguous(url) ? mask : placeOf(host.replace(/^\[(.+)\]$/, '$1'), port)
  }

/** The driver knows best: parameters of the query and variables such as PGHOST count too. Nothing connects here. */
function readByDriver(url: string): Client {
  try {
    return new Client({ connectionString: url })
  } catch {
    throw new Error(
      'SVC_DATABASE_URL (database.url) cannot be used: percent-encode its user, password and name, and check the files it names',
    )
  }
}

/** A password with an unencoded / or ? ends the host too early: its beginning is taken for the port, its rest for the name. */
function isAmbiguous(url: string): boolean {
  const { pathname, search, hash } = new URL(url)
  return `${pathname}${search}${hash}`.includes('@')
}

function placeOf(host: string, port: number): string {
  const shown = plain(plainHost, host)
  if (shown.startsWith('/')) return shown
  return `${shown.includes(':') ? `[${shown}]` : shown}:${port}`
}

const plain = (form: RegExp, text: string): string => (form.test(text) ? text : mask)
