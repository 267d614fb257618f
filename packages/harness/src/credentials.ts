// Creates credentials through the public API and sends requests with them.
import { type Person, type QueryService, proxySecret } from './callers.ts'

export type JsonAnswer = {
  status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape follows the route
  body: any
  headers: Headers
}

type RequestHeaders = Record<string, string>

/** Sends one request and parses the JSON response. A request with a body is a POST. */
export async function call(
  url: string,
  path: string,
  headers: RequestHeaders = {},
  body?: unknown,
): Promise<JsonAnswer> {
  const post = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }
  const response = await fetch(url + path, body === undefined ? { headers } : post)
  return { status: response.status, body: await response.json(), headers: response.headers }
}

/** Returns the headers of a request that the proxy forwards for a client with this address. */
export const throughProxy = (client?: string): RequestHeaders => ({
  'x-proxy-auth': proxySecret,
  ...(client === undefined ? {} : { 'x-forwarded-for': client }),
})

export const bearer = (token: string): RequestHeaders => ({ authorization: `Bearer ${token}` })
export const basicValue = (username: string, password: string): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`

/** Calls POST /api/validate-proxy-auth as the proxy does, for a client with this address. */
export const validate = (
  url: string,
  authorization: string,
  applicationId: string,
  client?: string,
): Promise<JsonAnswer> =>
  call(url, '/api/validate-proxy-auth', throughProxy(client), {
    authorization_header: authorization,
    application_id: applicationId,
  })

/** Creates a personal access token for the signed-in owner. */
export async function createToken(
  service: QueryService,
  person: Person,
  input: { name?: string; expiresAt?: string } = {},
): Promise<{ id: string; token: string; tokenPrefix: string }> {
  const { data, error } = await service.query(
    person,
    `mutation($name: String!, $expiresAt: String) { created: createPersonalAccessToken(name: $name, expiresAt: $expiresAt) {
      token personalAccessToken { id tokenPrefix } } }`,
    { name: 'test', ...input },
  )
  if (error !== null) throw new Error(error)
  return { token: data.created.token as string, ...data.created.personalAccessToken }
}

/** Creates a machine user through the API. With a user name and a password, it uses Basic, otherwise Bearer. */
export async function createMachine(
  service: QueryService,
  person: Person,
  environmentId: string,
  basic?: { username: string; password: string },
): Promise<{ id: string; username: string; token: string | null }> {
  const { data, error } = await service.query(
    person,
    `mutation($environmentId: ID!, $input: CreateMachineUserInput!) {
      created: createMachineUserWithCredentials(environmentId: $environmentId, input: $input) {
        generatedToken machineUser { id username } } }`,
    {
      environmentId,
      input: { name: 'test', username: basic?.username, hashedKey: basic?.password ?? '__GENERATE_TOKEN__' },
    },
  )
  if (error !== null) throw new Error(error)
  return { token: data.created.generatedToken as string | null, ...data.created.machineUser }
}

/** Sends `count` calls one at a time and returns their statuses. */
export async function statuses(
  count: number,
  send: (index: number) => Promise<{ status: number }>,
): Promise<number[]> {
  const seen: number[] = []
  for (let index = 0; index < count; index++) seen.push((await send(index)).status)
  return seen
}
