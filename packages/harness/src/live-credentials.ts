// Sends credentials of every kind to several processes, while the first process invalidates the credentials one at a
// time.
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'pg'
import { type Person, headersOf } from './callers.ts'
import { bearer, createMachine, createToken, throughProxy } from './credentials.ts'
import { postQuery } from './graphql.ts'
import { type ServiceProcess, startProcess } from './process.ts'
import { type Call, type Invalidation, type Use, startUses } from './revocation.ts'
import { type SeededProject, seedMember, seedProject, seedUser } from './seed.ts'

type Kind = 'query' | 'validate' | 'machine'
export type LiveCredential = { kind: Kind; secret: string; id: string }
export type LiveWorld = {
  urls: string[]
  admin: Person
  project: SeededProject
  credentials: LiveCredential[]
}
type Outcome = { uses: Use[]; invalidations: Map<string, Invalidation> }

const kinds: readonly Kind[] = ['query', 'validate', 'machine']
const pick = <T>(items: readonly T[]): T => items[Math.floor(Math.random() * items.length)] as T

function callOf({ credentials, urls, project }: LiveWorld, kind: Kind): Call {
  const { secret } = pick(credentials.filter((credential) => credential.kind === kind))
  const url = pick(urls.slice(1))
  const authorization = bearer(secret)
  if (kind === 'machine')
    return {
      credential: secret,
      url: `${url}/api/machine/check`,
      headers: authorization,
      isAccepted: (_, body) => body.includes('"authenticated":true'),
    }
  const isAccepted = (status: number): boolean => status === 200
  const headers = throughProxy('203.0.113.5')
  if (kind === 'query')
    return {
      credential: secret,
      url: `${url}/query`,
      headers: { ...headers, ...authorization },
      body: '{"query":"{ me { id } }"}',
      isAccepted,
    }
  const body = { authorization_header: authorization['authorization'], application_id: project.applicationId }
  return {
    credential: secret,
    url: `${url}/api/validate-proxy-auth`,
    headers,
    body: JSON.stringify(body),
    isAccepted,
  }
}

/** Returns the mutations that invalidate a credential of this kind. */
export const getInvalidatingMutations = (kind: Kind): readonly [string, ...string[]] =>
  kind === 'machine'
    ? [
        'rotateMachineUserToken(id: $id) { generatedToken }',
        'updateMachineUser(id: $id, input: {enabled: false}) { id }',
        'deleteMachineUser(id: $id)',
      ]
    : ['revokePersonalAccessToken(id: $id) { id }', 'deletePersonalAccessToken(id: $id)']

/** Invalidates a credential through the first process. */
export async function invalidateCredential(
  { urls, admin }: LiveWorld,
  { kind, id }: LiveCredential,
  mutation = pick(getInvalidatingMutations(kind)),
): Promise<Invalidation> {
  const text = `mutation($id: ID!) { ${mutation} }`
  const requestedAt = performance.now()
  const { error } = await postQuery(urls[0] as string, headersOf(admin), text, { id })
  if (error !== null) throw new Error(error)
  return { requestedAt, confirmedAt: performance.now() }
}

/** Seeds users and a project for the processes at these URLs. The returned functions add credentials. */
export async function createLiveWorld(sql: Pool, urls: string[]) {
  const admin = await seedUser(sql, 'admin', 'administrator')
  const person = await seedUser(sql, 'person')
  const project = await seedProject(sql, `p${Date.now().toString(36)}`)
  await seedMember(sql, person, 'member', { projectId: project.id, tenantId: project.tenantId })
  const api = {
    query: (who: Person, text: string, variables?: Record<string, unknown>) =>
      postQuery(urls[0] as string, headersOf(who), text, variables),
  }
  const world: LiveWorld = { urls, admin, project, credentials: [] }
  const addToken = async (kind: Kind): Promise<void> => {
    const { token, id } = await createToken(api, person)
    world.credentials.push({ kind, secret: token, id })
  }
  const addMachine = async (): Promise<void> => {
    const { token, id } = await createMachine(api, admin, project.environmentId)
    world.credentials.push({ kind: 'machine', secret: token as string, id })
  }
  return { world, addToken, addMachine }
}

const maxAttempts = 5

/**
 * Sends a request. If the response is 503, waits for the delay in Retry-After and retries the request. On a busy
 * replica, hashing can take longer than the caller's timeout.
 */
async function finalStatus(send: () => Promise<Response>, attempt = 1): Promise<number> {
  const response = await send()
  await response.arrayBuffer()
  if (response.status !== 503 || attempt === maxAttempts) return response.status
  await sleep(1_000 * Number(response.headers.get('retry-after')))
  return finalStatus(send, attempt + 1)
}

/** Sends every token once to every process except the first, so that each process caches the result of hashing. */
export async function warmCredentials(world: LiveWorld): Promise<void> {
  for (const url of world.urls.slice(1))
    for (const { kind, secret } of world.credentials.filter((credential) => credential.kind !== 'machine')) {
      const only = { ...world, urls: ['', url], credentials: [{ kind, secret, id: '' }] }
      const call = callOf(only, kind)
      const body = call.body as string
      const headers = { 'content-type': 'application/json', ...call.headers }
      const status = await finalStatus(() => fetch(call.url, { method: 'POST', headers, body }))
      if (status !== 200) throw new Error(`a ${kind} credential returned ${status}`)
    }
}

/** Returns all credentials except one of each kind, which therefore stays valid. */
export const omitOneOfEachKind = ({ credentials }: LiveWorld): LiveCredential[] =>
  kinds.flatMap((kind) => credentials.filter((credential) => credential.kind === kind).slice(1))

type LoadOptions = {
  seconds: number
  invalidate: (credential: LiveCredential) => Promise<Invalidation>
  /** Minimum number of credentials to invalidate, even if this takes longer than `seconds`. */
  minInvalidated?: number
  /** Calls per second for each kind. */
  perKind?: number
}

/** Uses credentials of every kind and invalidates them one at a time. */
export async function useAndInvalidate(
  world: LiveWorld,
  toInvalidate: readonly LiveCredential[],
  { seconds, invalidate, minInvalidated = 1, perKind = 500 }: LoadOptions,
): Promise<Outcome> {
  const [uses, invalidations] = [[] as Use[], new Map<string, Invalidation>()]
  const used = kinds.filter((kind) => world.credentials.some((credential) => credential.kind === kind))
  const streams = used.map((kind) => startUses(perKind, () => callOf(world, kind), uses))
  const until = performance.now() + seconds * 1_000
  for (const credential of toInvalidate) {
    if (performance.now() > until - 1_000 && invalidations.size >= minInvalidated) break
    invalidations.set(credential.secret, await invalidate(credential))
    await sleep(200)
  }
  // Waits long enough for the last invalidated credential to be used again.
  await sleep(Math.max(2_000, until - performance.now()))
  await Promise.all(streams.map((stream) => stream.stop()))
  return { uses, invalidations }
}

/** Makes the tokens expire 2, 4, 6, … s from now. Returns the expiry times on the clock of this process. */
export async function expireSoon(
  sql: Pool,
  tokens: readonly LiveCredential[],
): Promise<Map<string, Invalidation>> {
  const invalidations = new Map<string, Invalidation>()
  for (const [index, { id, secret }] of tokens.entries()) {
    const at = Date.now() + (index + 1) * 2_000
    await sql.query('update personal_access_tokens set expires_at = $2 where id = $1', [id, new Date(at)])
    const expiredAt = at - performance.timeOrigin
    invalidations.set(secret, { requestedAt: expiredAt, confirmedAt: expiredAt })
  }
  return invalidations
}

// All failures come from one client, so the limits must be high enough not to block this client.
const env = { SVC_THROTTLES_VALIDATE_FAILURES: '100000', SVC_THROTTLES_MACHINE_FAILURES: '100000' }

/**
 * Starts three processes, the second and third from `program`, and seeds the data that their credentials
 * need.
 */
export async function startLiveWorld(databaseUrl: string, program?: string) {
  const processes: ServiceProcess[] = await Promise.all(
    [undefined, program, program].map((file) => startProcess(databaseUrl, env, { program: file })),
  )
  const sql = new Pool({ connectionString: databaseUrl, max: 1 })
  const made = await createLiveWorld(
    sql,
    processes.map(({ url }) => url),
  )
  const stop = async (): Promise<void> => {
    for (const { child } of processes) child.kill('SIGKILL')
    await sql.end()
  }
  return { ...made, sql, stop }
}
