// Callers of the service in tests and fault scenarios: users behind the proxy, and the secrets that all tests share.
import type { GraphqlAnswer } from './graphql.ts'

export const proxySecret = 'the-proxy-secret-of-all-the-tests'
export const masterKey = Buffer.alloc(32, 7).toString('base64')

export type Person = { id: string; email?: string; name?: string }

/** The base URL of a running service. */
export type Service = { url: string }
/** A service that executes GraphQL operations as a user behind the proxy. */
export type QueryService = {
  query(person: Person, text: string, variables?: Record<string, unknown>): Promise<GraphqlAnswer>
}

/** The headers that the proxy sends for a person. */
export const headersOf = (person: Person): Record<string, string> => ({
  'x-proxy-auth': proxySecret,
  'x-token-subject': person.id,
  ...(person.email === undefined ? {} : { 'x-token-user-email': person.email }),
  ...(person.name === undefined ? {} : { 'x-token-user-name': person.name }),
})
