// Credentials of every kind that are used at several processes while one after the other is ended at the first.
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'pg'
import { type Person, headersOf } from './callers.ts'
import { bearer, createMachine, createToken, throughProxy } from './credentials.ts'
import { postQuery } from './graphql.ts'
import { type ServiceProcess, startProcess } from './process.ts'
import { type Call, type Ending, type Use, startUses } from './revocation.ts'
import { type SeededProject, seedMember, seedProject, seedUser } from './seed.ts'

type Kind = 'query' | 'validate' | 'machine'
export type Live = { kind: Kind; secret: string; id: string }
export type LiveWorld = { urls: string[]; admin: Person; project: SeededProject; live: Live[] }
type Outcome = { uses: Use[]; endings: Map<string, Ending> }

const kinds: readonly Kind[] = ['query', 'validate', 'machine']
const pick = <T>(items: readonly T[]): T => items[Math.floor(Math.random() * items.length)] as T

function callOf({ live, urls, project }: LiveWorld, kind: Kind): Call {
  const { secret } = pick(live.filter((credential) => credential.kind === kind))
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

/** The ways in which a credential can be ended. */
export const waysToEnd = (kind: Kind): readonly [string, ...string[]] =>
  kind === 'machine'
    ? [
        'rotateMachineUserToken(id: $id) { generatedToken }',
        'updateMachineUser(id: $id, input: {enabled: false}) { id }',
        'deleteMachineUser(id: $id)',
      ]
    : ['revokePersonalAccessToken(id: $id) { id }', 'deletePersonalAccessToken(id: $id)']

/** Ends a credential at the first process. */
export async function endCredential(
  { urls, admin }: LiveWorld,
  { kind, id }: Live,
  way = pick(waysToEnd(kind)),
): Promise<Ending> {
  const text = `mutation($id: ID!) { ${way} }`
  const askedAt = performance.now()
  const { error } = await postQuery(urls[0] as string, headersOf(admin), text, { id })
  if (error !== null) throw new Error(error)
  return { askedAt, answeredAt: performance.now() }
}

/** People and a project for the processes at these addresses, and how to add credentials. */
export async function createLiveWorld(sql: Pool, urls: string[]) {
  const admin = await seedUser(sql, 'admin', 'administrator')
  const person = await seedUser(sql, 'person')
  const project = await seedProject(sql, `p${Date.now().toString(36)}`)
  await seedMember(sql, person, 'member', { projectId: project.id, tenantId: project.tenantId })
  const api = {
    query: (who: Person, text: string, variables?: Record<string, unknown>) =>
      postQuery(urls[0] as string, headersOf(who), text, variables),
  }
  const world: LiveWorld = { urls, admin, project, live: [] }
  const addToken = async (kind: Kind): Promise<void> => {
    const { token, id } = await createToken(api, person)
    world.live.push({ kind, secret: token, id })
  }
  const addMachine = async (): Promise<void> => {
    const { token, id } = await createMachine(api, admin, project.environmentId)
    world.live.push({ kind: 'machine', secret: token as string, id })
  }
  return { world, addToken, addMachine }
}

const mostTries = 5

/** Hashing may take longer than a busy replica lets a caller wait; then it says when to come again. */
async function statusInTheEnd(send: () => Promise<Response>, tries = 1): Promise<number> {
  const answer = await send()
  await answer.arrayBuffer()
  if (answer.status !== 503 || tries === mostTries) return answer.status
  await sleep(1_000 * Number(answer.headers.get('retry-after')))
  return statusInTheEnd(send, tries + 1)
}

/** Lets every process see every token once: it remembers what it had to hash. */
export async function warmCredentials(world: LiveWorld): Promise<void> {
  for (const url of world.urls.slice(1))
    for (const { kind, secret } of world.live.filter((credential) => credential.kind !== 'machine')) {
      const only = { ...world, urls: ['', url], live: [{ kind, secret, id: '' }] }
      const call = callOf(only, kind)
      const body = call.body as string
      const headers = { 'content-type': 'application/json', ...call.headers }
      const status = await statusInTheEnd(() => fetch(call.url, { method: 'POST', headers, body }))
      if (status !== 200) throw new Error(`a ${kind} credential is answered ${status}`)
    }
}

/** One credential of each kind stays, so that there is always something that is accepted. */
export const allButOne = ({ live }: LiveWorld): Live[] =>
  kinds.flatMap((kind) => live.filter((credential) => credential.kind === kind).slice(1))

type Hammering = {
  seconds: number
  endOne: (live: Live) => Promise<Ending>
  /** So many are ended at least, however long that takes. */
  fewest?: number
  /** Uses a second, of each kind. */
  perKind?: number
}

/** Uses credentials of every kind, and ends one after the other meanwhile. */
export async function hammer(
  world: LiveWorld,
  toEnd: readonly Live[],
  { seconds, endOne, fewest = 1, perKind = 500 }: Hammering,
): Promise<Outcome> {
  const [uses, endings] = [[] as Use[], new Map<string, Ending>()]
  const used = kinds.filter((kind) => world.live.some((live) => live.kind === kind))
  const streams = used.map((kind) => startUses(perKind, () => callOf(world, kind), uses))
  const until = performance.now() + seconds * 1_000
  for (const live of toEnd) {
    if (performance.now() > until - 1_000 && endings.size >= fewest) break
    endings.set(live.secret, await endOne(live))
    await sleep(200)
  }
  // Long enough for the credential that ended last to be used again.
  await sleep(Math.max(2_000, until - performance.now()))
  await Promise.all(streams.map((stream) => stream.stop()))
  return { uses, endings }
}

/** Lets tokens expire 2, 4, 6 and 8 s from now; answers when, by this process's clock. */
export async function expireSoon(sql: Pool, tokens: readonly Live[]): Promise<Map<string, Ending>> {
  const endings = new Map<string, Ending>()
  for (const [index, { id, secret }] of tokens.entries()) {
    const at = Date.now() + (index + 1) * 2_000
    await sql.query('update personal_access_tokens set expires_at = $2 where id = $1', [id, new Date(at)])
    const end = at - performance.timeOrigin
    endings.set(secret, { askedAt: end, answeredAt: end })
  }
  return endings
}

// One client fails all the time; the throttles are not tested here.
const env = { SVC_THROTTLES_VALIDATE_FAILURES: '100000', SVC_THROTTLES_MACHINE_FAILURES: '100000' }

/** Starts three processes, the second and third from `program`, and a world for their credentials. */
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
