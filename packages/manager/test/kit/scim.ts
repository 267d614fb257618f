// Calls the SCIM routes as an identity provider does: through the proxy, with a SCIM token.
import { randomUUID } from 'node:crypto'
import type { Person, QueryService, Service } from '@manager/harness/callers.ts'
import { type JsonAnswer, bearer, throughProxy } from '@manager/harness/credentials.ts'

/** Creates a SCIM token as an administrator. */
export async function createScimToken(
  service: QueryService,
  admin: Person,
  input: { name?: string; expiresAt?: string } = {},
): Promise<{ id: string; token: string; tokenPrefix: string }> {
  const { data, error } = await service.query(
    admin,
    `mutation($name: String!, $expiresAt: String) { created: createScimToken(name: $name, expiresAt: $expiresAt) {
      token scimToken { id tokenPrefix } } }`,
    { name: 'directory', ...input },
  )
  if (error !== null) throw new Error(error)
  return { token: data.created.token as string, ...data.created.scimToken }
}

type RequestHeaders = Record<string, string>

/** Returns functions that send SCIM requests, for one kind of resource. The service and the token may exist later. */
export function createScimClient(
  getService: () => Service,
  getToken: () => string,
  resource: '/Users' | '/Groups' = '/Users',
) {
  const send = async (
    method: string,
    path: string,
    { body, headers = {} }: { body?: unknown; headers?: RequestHeaders } = {},
  ): Promise<JsonAnswer> => {
    const response = await fetch(`${getService().url}/scim/v2${path}`, {
      method,
      headers: {
        ...throughProxy(),
        ...bearer(getToken()),
        ...(body === undefined ? {} : { 'content-type': 'application/scim+json; charset=utf-8' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? null : JSON.parse(text), headers: response.headers }
  }
  return {
    send,
    get: (path: string, headers: RequestHeaders = {}) => send('GET', path, { headers }),
    search: (filter: string, more = '') =>
      send('GET', `${resource}?filter=${encodeURIComponent(filter)}${more}`),
    post: (body: unknown) => send('POST', resource, { body }),
    put: (id: string, body: unknown, headers: RequestHeaders = {}) =>
      send('PUT', `${resource}/${id}`, { body, headers }),
    /** Sends operations; an object is the body. */
    patch: (id: string, operations: unknown, headers: RequestHeaders = {}) =>
      send('PATCH', `${resource}/${id}`, {
        body: Array.isArray(operations) ? { schemas: [patchSchema], Operations: operations } : operations,
        headers,
      }),
    remove: (id: string, headers: RequestHeaders = {}) => send('DELETE', `${resource}/${id}`, { headers }),
  }
}

export const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User'
export const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group'
export const patchSchema = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'
export const errorSchema = 'urn:ietf:params:scim:api:messages:2.0:Error'

let count = 0
/** Returns the body of a person with a new subject. */
export function newUser(
  change: Record<string, unknown> = {},
): Record<string, unknown> & { externalId: string } {
  count++
  return {
    schemas: [userSchema],
    externalId: randomUUID(),
    userName: `person-${count}-${randomUUID().slice(0, 8)}@example.com`,
    displayName: `Person ${count}`,
    active: true,
    ...change,
  }
}

/** Returns the body of a group with a new name. */
export function newGroup(
  change: Record<string, unknown> = {},
): Record<string, unknown> & { displayName: string } {
  count++
  return { schemas: [groupSchema], displayName: `Group ${count} ${randomUUID().slice(0, 8)}`, ...change }
}

/** Returns the members of a body. */
export const membersOf = (...ids: string[]): { value: string }[] => ids.map((value) => ({ value }))
