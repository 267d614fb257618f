// Who calls the service in tests and fault rows: people behind the proxy, and the secrets that all of them share.
import type { GraphqlAnswer } from './graphql.ts'

export const proxySecret = 'the-proxy-secret-of-all-the-tests'
export const masterKey = Buffer.alloc(32, 7).toString('base64')

export type Person = { id: string; email?: string; name?: string }

/** Where a service answers. */
export type Service = { url: string }
/** A service that answers GraphQL operations of people who came through the proxy. */
export type QueryService = {
  query(person: Person, text: string, variables?: Record<string, unknown>): Promise<GraphqlAnswer>
}

/** The headers the proxy sends for a person. */
export const headersOf = (person: Person): Record<string, string> => ({
  'x-proxy-auth': proxySecret,
  'x-token-subject': person.id,
  ...(person.email === undefined ? {} : { 'x-token-user-email': person.email }),
  ...(person.name === undefined ? {} : { 'x-token-user-name': person.name }),
})
