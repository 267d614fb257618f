// The directory `ldap`: people in an LDAP directory or in Active Directory. Filters, order and pages of a search apply
// to the entries that the directory returns, whose number is limited.
import { AppError } from '../errors.ts'
import { pageInMemory } from '../lists/memory-page.ts'
import type { Logger } from '../log/log.ts'
import { createFairShare } from '../throttle/fair-share.ts'
import type { DirectoryMetrics } from './directory-metrics.ts'
import { type DirectoryUser, type UserDirectory, nameOrder } from './directory.ts'
import { parseLdapUrl } from './ldap-connection.ts'
import {
  type LdapAttributes,
  createSearchFilter,
  encodeId,
  isGuidAttribute,
  listAttributes,
  readPerson,
} from './ldap-people.ts'
import { type LdapAccess, type LdapEntries, type LdapQuery, runLdapQuery } from './ldap-query.ts'
import { createFailover } from './ldap-servers.ts'

export type LdapOptions = LdapAccess & {
  urls: readonly string[]
  attributes: LdapAttributes
  /** Matches every person. */
  userFilter: string
  /** Template for a search text; null to search name, user name and e-mail. */
  searchFilter: string | null
  maxResults: number
  maxConcurrent: number
  requestTimeoutMs: number
}

const waitingPerSlot = 8
const retryAfterSeconds = 5

// The columns of the local directory, by which a page filters and orders.
const columns: Record<string, keyof DirectoryUser> = {
  id: 'id',
  externalUsername: 'username',
  externalEmail: 'email',
  externalName: 'displayName',
}
const readColumn = (user: DirectoryUser, column: string): string => String(user[columns[column] ?? 'id'])

type DirectoryDeps = { log: Logger; metrics: DirectoryMetrics }
/** Returns the entries of a query; throws 503 if no server answers in time. */
type RequestEntries = (query: LdapQuery, callerId: string) => Promise<LdapEntries>

/** Limits concurrent requests, chooses a server for each, and counts the outcomes. */
function createRequests(options: LdapOptions, { log, metrics }: DirectoryDeps): RequestEntries {
  const { maxConcurrent, requestTimeoutMs } = options
  const slots = createFairShare({
    capacity: maxConcurrent,
    maxWaiting: waitingPerSlot * maxConcurrent,
    maxWaitMs: requestTimeoutMs,
    overloadMessage: 'the user directory is busy; try again',
  })
  const runWithFailover = createFailover(options.urls.map(parseLdapUrl), {
    report: ({ host, port }, { message }) =>
      log.warn({ server: `${host}:${port}`, reason: message }, 'directory request failed'),
  })
  return async (query, callerId) => {
    const startedAt = performance.now()
    const deadline = startedAt + requestTimeoutMs
    let outcome: 'answered' | 'failed' | 'refused' = 'refused'
    try {
      return await slots.run([callerId], async () => {
        outcome = 'failed'
        const found = await runWithFailover(deadline, (server) =>
          runLdapQuery(server, options, query, deadline),
        )
        outcome = 'answered'
        return found
      })
    } catch (error) {
      if (error instanceof AppError) throw error
      // The reason is only in the log: callers must not learn about the directory.
      throw new AppError('unavailable', 'the user directory is not available; try again', {
        retryAfterSeconds,
      })
    } finally {
      metrics.requests.observe({ outcome }, (performance.now() - startedAt) / 1_000)
    }
  }
}

/** Creates a directory that opens a connection for each search; it needs no connection to start. */
export function createLdapDirectory(options: LdapOptions, deps: DirectoryDeps): UserDirectory {
  const { attributes, userFilter, maxResults } = options
  const requestEntries = createRequests(options, deps)
  const binaryAttributes = isGuidAttribute(attributes.id) ? [attributes.id] : []

  async function findPeople(
    query: Pick<LdapQuery, 'filter' | 'equals' | 'limit'>,
    callerId: string,
  ): Promise<{ people: DirectoryUser[]; isTruncated: boolean }> {
    const { entries, isTruncated } = await requestEntries(
      { ...query, attributes: listAttributes(attributes), binaryAttributes },
      callerId,
    )
    const people = new Map<string, DirectoryUser>()
    for (const entry of entries) {
      const person = readPerson(entry, attributes)
      if (person === null || people.has(person.id)) deps.metrics.ignoredEntries.inc()
      else people.set(person.id, person)
    }
    return { people: [...people.values()], isTruncated }
  }

  return {
    search: async (text, page, callerId) => {
      const filter = createSearchFilter(options, attributes, text)
      const { people, isTruncated } = await findPeople({ filter, limit: maxResults }, callerId)
      const orderedPage = page.order.length > 0 ? page : { ...page, order: nameOrder }
      return pageInMemory({ rows: people, isTruncated }, orderedPage, readColumn)
    },
    find: async (id, callerId) => {
      const equals = { attribute: attributes.id, value: encodeId(attributes.id, id) }
      const { people } = await findPeople({ filter: userFilter, equals, limit: 2 }, callerId)
      return people.find((person) => person.id === id) ?? null
    },
  }
}
