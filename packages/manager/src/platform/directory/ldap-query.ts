// Runs one search on one server: connects, authenticates, searches and disconnects. A connection serves one search, so
// no search depends on the state of an idle connection.
import type { connect } from 'node:net'
import type * as Ldapts from 'ldapts'
import type { Lookup } from '../outbound/names.ts'
import {
  type LdapConnection,
  type LdapEncryption,
  type LdapServer,
  openConnection,
  runWithin,
} from './ldap-connection.ts'
import { LdapFailure } from './ldap-failure.ts'

/** The account of the Manager; null for anonymous searches. */
type LdapAccount = { dn: string; password: string } | null

export type LdapAccess = {
  encryption: LdapEncryption
  account: LdapAccount
  baseDn: string
  connectTimeoutMs: number
  /** Resolves the names of servers. */
  lookup: Lookup
}

export type LdapQuery = {
  filter: string
  /** An attribute that must also have this value, which can be binary. */
  equals?: { attribute: string; value: string | Buffer }
  attributes: readonly string[]
  /** Attributes with binary values. */
  binaryAttributes: readonly string[]
  /** Maximum number of entries. */
  limit: number
}

/** The entries that a server found. `isTruncated` if it has more. */
export type LdapEntries = { entries: Ldapts.Entry[]; isTruncated: boolean }

type Library = typeof Ldapts

// An entry has only the requested attributes. References to other servers are ignored, but they count.
const getLimits = ({ limit }: LdapQuery) => ({
  maxMessages: 2 * limit + 100,
  maxBytes: 65_536 + limit * 16_384,
})

/** Returns the entries that a server finds until the deadline; throws LdapFailure. */
export async function runLdapQuery(
  server: LdapServer,
  access: LdapAccess,
  query: LdapQuery,
  deadline: number,
): Promise<LdapEntries> {
  // Loaded with the first search, because most installations have no LDAP directory.
  const library: Library = await import('ldapts')
  const getTimeLeft = (): number => deadline - performance.now()
  const connectDeadline = performance.now() + Math.min(access.connectTimeoutMs, getTimeLeft())
  const connection = await openConnection(server, access.encryption, {
    ms: connectDeadline - performance.now(),
    limits: getLimits(query),
    lookup: access.lookup,
  })
  try {
    const client = createClient(library, connection)
    const { account } = access
    if (account !== null)
      await runWithin({ ms: connectDeadline - performance.now(), what: 'authentication' }, connection, () =>
        client.bind(account.dn, account.password),
      )
    const { searchEntries } = await runWithin({ ms: getTimeLeft(), what: 'the search' }, connection, () =>
      client.search(access.baseDn, {
        scope: 'sub',
        filter: createFilter(library, query),
        attributes: [...query.attributes],
        explicitBufferAttributes: [...query.binaryAttributes],
        sizeLimit: query.limit,
        timeLimit: Math.max(1, Math.ceil(getTimeLeft() / 1_000)),
      }),
    )
    connection.finish()
    const isTruncated = connection.isTruncated || searchEntries.length > query.limit
    return { entries: searchEntries.slice(0, query.limit), isTruncated }
  } catch (error) {
    connection.destroy()
    throw connection.failure ?? error
  }
}

function createFilter({ AndFilter, EqualityFilter, FilterParser }: Library, query: LdapQuery): Ldapts.Filter {
  const filter = FilterParser.parseString(query.filter)
  return query.equals === undefined
    ? filter
    : new AndFilter({ filters: [filter, new EqualityFilter(query.equals)] })
}

/** Returns a client that uses only this connection. */
function createClient({ Client }: Library, connection: LdapConnection) {
  let isUsed = false
  const createConnection = (): LdapConnection => {
    // The client would connect again after a lost connection, without encryption.
    if (isUsed) throw new LdapFailure('the server closed the connection')
    isUsed = true
    return connection
  }
  // The client uses only the properties of a stream. The URL is never resolved.
  return new Client({
    url: 'ldap://directory.invalid',
    createConnection: createConnection as unknown as typeof connect,
  })
}
