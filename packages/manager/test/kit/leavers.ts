// Uses the Manager as one person in every way, on three processes, while an identity provider takes the access away on the
// first process. The functions find requests that are accepted after the identity provider received its answer.
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'pg'
import { type Person, type QueryService, headersOf } from '@manager/harness/callers.ts'
import { decide, openTerminal } from '@manager/harness/cli-login.ts'
import { bearer, createToken, throughProxy } from '@manager/harness/credentials.ts'
import { postQuery } from '@manager/harness/graphql.ts'
import { startProcess } from '@manager/harness/process.ts'
import { type SeededProject, seedProject, seedUser } from '@manager/harness/seed.ts'
import { type SteadyCall, type TimedAnswer, startSteady } from '@manager/harness/steady.ts'
import { seedNotifications } from './inbox.ts'
import { createScimClient, createScimToken, newUser } from './scim.ts'
import { type TestSocket, openSocket, seatHeaders } from './sockets.ts'

const kinds = ['session', 'pat', 'cli', 'validated pat', 'validated person', 'catalog', 'inbox'] as const
type Kind = (typeof kinds)[number]
/** `failed` is an overload or another error, which shows neither access nor its loss. */
type Verdict = 'accepted' | 'rejected' | 'failed'
export type Use = { kind: Kind; url: string; startedAt: number; answeredAt: number; verdict: Verdict }

export type LeaverWorld = {
  urls: string[]
  sql: Pool
  admin: Person
  project: SeededProject
  service: QueryService & { url: string }
  scim: ReturnType<typeof createScimClient>
  stop: () => Promise<void>
}
/** A provisioned person with every kind of credential, and one open socket per process. */
export type Leaver = { id: string; pat: string; cliToken: string; sockets: TestSocket[] }

// All rejected tokens come from one client, which must not be blocked: a blocked request proves nothing.
const env = { SVC_THROTTLES_VALIDATE_FAILURES: '100000' }
const processCount = 3

/** Starts three processes on one database, with a project and a SCIM token. */
export async function startLeaverWorld(databaseUrl: string): Promise<LeaverWorld> {
  const processes = await Promise.all(
    Array.from({ length: processCount }, () => startProcess(databaseUrl, env)),
  )
  const urls = processes.map(({ url }) => url)
  const url = urls[0] as string
  const sql = new Pool({ connectionString: databaseUrl, max: 1 })
  const admin = await seedUser(sql, 'admin', 'administrator')
  const service = {
    url,
    query: (person: Person, text: string, variables?: Record<string, unknown>) =>
      postQuery(url, headersOf(person), text, variables),
  }
  const { token } = await createScimToken(service, admin)
  const scim = createScimClient(
    () => service,
    () => token,
  )
  const stop = async (): Promise<void> => {
    for (const { child } of processes) child.kill('SIGKILL')
    await sql.end()
  }
  return { urls, sql, admin, project: await seedProject(sql, 'leavers'), service, scim, stop }
}

/** Creates a person over SCIM. `giveRole` gives the role without which no request is accepted. */
export async function provisionLeaver(
  world: LeaverWorld,
  giveRole: (person: Person) => Promise<unknown>,
): Promise<Leaver> {
  const { urls, sql, project, service, scim } = world
  const { body } = await scim.post(newUser())
  const person: Person = { id: body.id as string }
  await giveRole(person)
  await seedNotifications(sql, project, [person], [{ title: 'Welcome' }])
  const { token: pat } = await createToken(service, person)
  const terminal = await openTerminal(service)
  const { session_id, user_code } = await terminal.login()
  await decide(service, person, user_code, 'approve')
  const poll = await terminal.poll(session_id)
  const cliToken = terminal.open(poll.body['sealed_token'])
  const sockets = urls.map((url) => openSocket(url, { ...project, userId: person.id }))
  await Promise.all(sockets.map(({ hello }) => hello))
  return { id: person.id, pat, cliToken, sockets }
}

// oxlint-disable-next-line typescript/no-explicit-any -- the shape follows the route
type Body = any
/** `showsAccess` reads the body of a response with status 200. It returns null if the body shows an error. */
type Route = { call: SteadyCall; showsAccess: (body: Body) => boolean | null }

/** Returns one request of each kind to a process. Each is accepted only while the person has a role in the tenant. */
function getRoutes(
  { project }: LeaverWorld,
  { id, pat, cliToken }: Leaver,
  url: string,
): Record<Kind, Route> {
  const { tenantId, applicationId } = project
  const query = (headers: Record<string, string>): Route => ({
    call: {
      url: `${url}/query`,
      headers,
      body: JSON.stringify({ query: '{ tenantById(id: "$id") { id } }'.replace('$id', tenantId) }),
    },
    showsAccess: ({ data, errors }) => {
      if (typeof data?.tenantById?.id === 'string') return true
      return ['not_found', 'forbidden'].includes(errors?.[0]?.extensions?.code) ? false : null
    },
  })
  const validation = (path: string, body: object): Route => ({
    call: {
      url: `${url}${path}`,
      headers: throughProxy(),
      body: JSON.stringify({ ...body, application_id: applicationId }),
    },
    showsAccess: ({ application }) => application.has_access as boolean,
  })
  return {
    session: query(headersOf({ id })),
    pat: query({ ...throughProxy(), ...bearer(pat) }),
    cli: query({ ...throughProxy(), ...bearer(cliToken) }),
    'validated pat': validation('/api/validate-proxy-auth', { authorization_header: `Bearer ${pat}` }),
    'validated person': validation('/api/validate-oauth-user', { user_id: id }),
    catalog: {
      call: { url: `${url}/api/proxy/user/${id}/tenants`, headers: throughProxy() },
      showsAccess: ({ tenants }) => tenants.length > 0,
    },
    inbox: {
      call: {
        url: `${url}/api/proxy/comms/${applicationId}/notifications`,
        headers: seatHeaders({ userId: id, tenantId }),
      },
      showsAccess: ({ notifications }) => notifications.length > 0,
    },
  }
}

function judge({ showsAccess }: Route, { status, body }: Pick<TimedAnswer, 'status' | 'body'>): Verdict {
  if ([401, 403, 404].includes(status)) return 'rejected'
  const isShown = status === 200 ? showsAccess(JSON.parse(body)) : null
  if (isShown === null) return 'failed'
  return isShown ? 'accepted' : 'rejected'
}

/** Sends one request of each kind to each process. Returns those that are not accepted. */
export async function findRejectedKinds(world: LeaverWorld, leaver: Leaver): Promise<string[]> {
  const rejected: string[] = []
  for (const url of world.urls)
    for (const [kind, route] of Object.entries(getRoutes(world, leaver, url))) {
      const { headers, body } = route.call
      const post = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body }
      const response = await fetch(route.call.url, body === undefined ? { headers } : post)
      const answer = { status: response.status, body: await response.text() }
      if (judge(route, answer) !== 'accepted') rejected.push(`${kind}: ${answer.status} ${answer.body}`)
    }
  return rejected
}

const [perSecond, secondsBefore, maxSeconds] = [1_500, 1, 60]

export type Outcome = {
  uses: Use[]
  requestedAt: number
  /** The time at which the identity provider had its answer. */
  answeredAt: number
  sockets: { code: number; closedAt: number }[]
}

/** Sends requests of all kinds to all processes in turn, before, during and after `leave`. */
export async function useWhileLeaving(
  world: LeaverWorld,
  leaver: Leaver,
  { leave, minUses }: { leave: () => Promise<void>; minUses: number },
): Promise<Outcome> {
  const routes = world.urls.map((url) => ({ url, routes: getRoutes(world, leaver, url) }))
  const uses: Use[] = []
  let turn = 0
  const load = startSteady(perSecond, () => {
    const { url, routes: ofProcess } = routes[turn % routes.length] as (typeof routes)[number]
    const kind = kinds[Math.floor(turn++ / routes.length) % kinds.length] as Kind
    const route = ofProcess[kind]
    const onAnswer = ({ startedAt, answeredAt, ...answer }: TimedAnswer): void =>
      void uses.push({ kind, url, startedAt, answeredAt, verdict: judge(route, answer) })
    return { call: route.call, onAnswer }
  })
  const closings = leaver.sockets.map(({ closed }) =>
    closed.then((code) => ({ code, closedAt: performance.now() })),
  )
  await sleep(secondsBefore * 1_000)
  const requestedAt = performance.now()
  await leave()
  const answeredAt = performance.now()
  const until = answeredAt + maxSeconds * 1_000
  while (findUsesAfter(uses, answeredAt).length < minUses && performance.now() < until) await sleep(50)
  await load.stop()
  return { uses, requestedAt, answeredAt, sockets: await Promise.all(closings) }
}

/** Returns the uses that started after this time and that show whether the person has access. */
export const findUsesAfter = (uses: readonly Use[], time: number): Use[] =>
  uses.filter(({ startedAt, verdict }) => startedAt > time && verdict !== 'failed')

/** Returns the uses that were accepted although they started after this time. The list must be empty. */
export const findAcceptedAfter = (uses: readonly Use[], time: number): Use[] =>
  findUsesAfter(uses, time).filter(({ verdict }) => verdict === 'accepted')

/** Returns the uses that were rejected although they were answered before this time. The list must be empty. */
export const findRejectedBefore = (uses: readonly Use[], time: number): Use[] =>
  uses.filter(({ answeredAt, verdict }) => answeredAt < time && verdict === 'rejected')

/** Returns the kinds and processes that were not accepted before the request, or not rejected after the answer. */
export function findUnused({ urls }: Pick<LeaverWorld, 'urls'>, outcome: Outcome): string[] {
  const { uses, requestedAt, answeredAt } = outcome
  const wasUsed = (kind: Kind, url: string): boolean => {
    const own = uses.filter((use) => use.kind === kind && use.url === url)
    return (
      own.some((use) => use.verdict === 'accepted' && use.answeredAt < requestedAt) &&
      own.some((use) => use.verdict === 'rejected' && use.startedAt > answeredAt)
    )
  }
  return kinds.flatMap((kind) => urls.filter((url) => !wasUsed(kind, url)).map((url) => `${kind} at ${url}`))
}

/** Returns the time from the answer until the last socket was closed. */
export const computeClosingMs = ({ sockets, answeredAt }: Outcome): number =>
  Math.max(...sockets.map(({ closedAt }) => closedAt - answeredAt))

/** Describes the outcome in one line. */
export function formatOutcome(name: string, outcome: Outcome): string {
  const { uses, answeredAt } = outcome
  const after = findUsesAfter(uses, answeredAt)
  const counts = kinds.map((kind) => `${kind} ${format(after.filter((use) => use.kind === kind).length)}`)
  const failed = uses.filter(({ verdict }) => verdict === 'failed').length
  return `${name}: ${format(after.length)} requests after the answer, ${findAcceptedAfter(uses, answeredAt).length} accepted (${counts.join(', ')}), ${failed} failed, sockets closed after ${Math.round(computeClosingMs(outcome))} ms\n`
}

const format = (count: number): string => count.toLocaleString('en-US')
