// Three processes on one database. Credentials are ended on the first while the other two are used at 3 x 500 requests a
// second: no request that starts after the answer may be accepted.
import { Pool } from 'pg'
import { describe, expect, test } from 'vitest'
import { type Person, headersOf } from '../kit/app.ts'
import { bearer, createMachine, createToken, throughProxy } from '../kit/credentials.ts'
import { createScratchDatabase } from '../kit/databases.ts'
import { postQuery } from '../kit/graphql.ts'
import { loadSize } from '../kit/load-sizes.ts'
import { type ServiceProcess, startProcess } from '../kit/process.ts'
import {
  type Call,
  type Ending,
  type Use,
  acceptedAfterEnd,
  refusedBeforeEnd,
  startUses,
  startedAfterEnd,
} from '../kit/revocation.ts'
import { type SeededProject, seedMember, seedProject, seedUser } from '../kit/seed.ts'

type Kind = 'query' | 'validate' | 'machine'
type Live = { kind: Kind; secret: string; id: string }
type World = { urls: string[]; admin: Person; project: SeededProject; live: Live[] }

const plantedCache = new URL('../planted/cached-reads.ts', import.meta.url).pathname
// One client fails all the time here; the throttles are not the question.
const env = { SVC_THROTTLES_VALIDATE_FAILURES: '100000', SVC_THROTTLES_MACHINE_FAILURES: '100000' }
const pick = <T>(items: readonly T[]): T => items[Math.floor(Math.random() * items.length)] as T

function callOf({ live, urls, project }: World, kind: Kind): Call {
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

/** Ends a credential on the first process. */
async function end({ urls, admin }: World, { kind, id }: Live): Promise<Ending> {
  const ways =
    kind === 'machine'
      ? [
          'rotateMachineUserToken(id: $id) { generatedToken }',
          'updateMachineUser(id: $id, input: {enabled: false}) { id }',
          'deleteMachineUser(id: $id)',
        ]
      : ['revokePersonalAccessToken(id: $id) { id }', 'deletePersonalAccessToken(id: $id)']
  const text = `mutation($id: ID!) { ${pick(ways)} }`
  const askedAt = performance.now()
  const { error } = await postQuery(urls[0] as string, headersOf(admin), text, { id })
  if (error !== null) throw new Error(error)
  return { askedAt, answeredAt: performance.now() }
}

/** Everything ready to use: three processes, and credentials that every process has seen. */
async function prepare(databaseUrl: string, program?: string) {
  const processes: ServiceProcess[] = await Promise.all(
    [undefined, program, program].map((file) => startProcess(databaseUrl, env, { program: file })),
  )
  const urls = processes.map(({ url }) => url)
  const sql = new Pool({ connectionString: databaseUrl, max: 1 })
  const admin = await seedUser(sql, 'admin', 'administrator')
  const person = await seedUser(sql, 'person')
  const project = await seedProject(sql, `p${Date.now().toString(36)}`)
  await seedMember(sql, person, 'member', { projectId: project.id, tenantId: project.tenantId })
  await sql.end()
  const api = {
    query: (who: Person, text: string, variables?: Record<string, unknown>) =>
      postQuery(urls[0] as string, headersOf(who), text, variables),
  }
  const world: World = { urls, admin, project, live: [] }
  const addToken = async (kind: Kind, expiresAt?: string): Promise<string> => {
    const { token, id } = await createToken(api, person, expiresAt === undefined ? {} : { expiresAt })
    world.live.push({ kind, secret: token, id })
    return token
  }
  const addMachine = async (): Promise<void> => {
    const { token, id } = await createMachine(api, admin, project.environmentId)
    world.live.push({ kind: 'machine', secret: token as string, id })
  }
  return { world, addToken, addMachine, stop: () => processes.map(({ child }) => child.kill('SIGKILL')) }
}

async function warm(world: World): Promise<void> {
  for (const url of world.urls.slice(1))
    for (const { kind, secret } of world.live.filter((credential) => credential.kind !== 'machine')) {
      const only = { ...world, urls: ['', url], live: [{ kind, secret, id: '' }] }
      const call = callOf(only, kind)
      const body = call.body as string
      const headers = { 'content-type': 'application/json', ...call.headers }
      const response = await fetch(call.url, { method: 'POST', headers, body })
      expect(response.status).toBe(200)
    }
}

type Outcome = { uses: Use[]; endings: Map<string, Ending> }

// The planted cache is found in two.
const runSeconds = loadSize(10, 20)
const kinds: Kind[] = ['query', 'validate', 'machine']

/** One credential of each kind stays, so that there is always something that is accepted. */
const allButOne = ({ live }: World): Live[] =>
  kinds.flatMap((kind) => live.filter((credential) => credential.kind === kind).slice(1))

/** Uses credentials of every kind at 500 a second each, and ends one after the other meanwhile, `fewest` of them at least. */
async function hammer(
  world: World,
  toEnd: Live[],
  seconds: number,
  {
    endOne = (live) => end(world, live),
    fewest = 1,
  }: { endOne?: (live: Live) => Promise<Ending>; fewest?: number } = {},
): Promise<Outcome> {
  const [uses, endings] = [[] as Use[], new Map<string, Ending>()]
  const used = kinds.filter((kind) => world.live.some((live) => live.kind === kind))
  const streams = used.map((kind) => startUses(500, () => callOf(world, kind), uses))
  const until = performance.now() + seconds * 1_000
  for (const live of toEnd.toSorted(() => Math.random() - 0.5)) {
    if (performance.now() > until - 1_000 && endings.size >= fewest) break
    endings.set(live.secret, await endOne(live))
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  await new Promise((resolve) => setTimeout(resolve, Math.max(1_000, until - performance.now())))
  await Promise.all(streams.map((stream) => stream.stop()))
  return { uses, endings }
}

describe('the check itself', () => {
  test('finds a use that was accepted after the end, and one that was refused before it', () => {
    const endings = new Map([['a', { askedAt: 8, answeredAt: 10 }]])
    const late = { credential: 'a', startedAt: 11, answeredAt: 12, accepted: true }
    const early = { credential: 'a', startedAt: 1, answeredAt: 7, accepted: false }
    const meanwhile = { ...early, answeredAt: 9 }
    const uses = [late, { ...late, startedAt: 10 }, { ...late, accepted: false }, early, meanwhile]
    expect(acceptedAfterEnd(uses, endings)).toEqual([late])
    expect(refusedBeforeEnd(uses, endings)).toEqual([early])
    expect(refusedBeforeEnd([{ ...early, credential: 'b' }], endings)).toHaveLength(1)
  })

  test('finds a cache of 50 ms that is planted in front of the lookups', { timeout: 120_000 }, async () => {
    const database = await createScratchDatabase()
    const { world, addMachine, stop } = await prepare(database.url, plantedCache)
    const sql = new Pool({ connectionString: database.url, max: 1 })
    // By hand, so that the answer comes right after the commit even when the machine is busy.
    const disable = async ({ id }: Live): Promise<Ending> => {
      await new Promise((resolve) => setTimeout(resolve, 500))
      const askedAt = performance.now()
      await sql.query('update machine_users set enabled = false where id = $1', [id])
      return { askedAt, answeredAt: performance.now() }
    }
    let [stale, all] = [0, 0]
    // One credential at a time, so that every process has it in its cache when it ends.
    for (let i = 0; i < 10 && stale === 0; i++) {
      world.live = []
      await addMachine()
      const { uses, endings } = await hammer(world, world.live, 2, { endOne: disable })
      stale += acceptedAfterEnd(uses, endings).length
      all += uses.length
    }
    stop()
    await sql.end()
    await database.drop()
    process.stdout.write(`planted 50 ms cache: accepted_after=${stale} of ${all} uses\n`)
    expect(stale).toBeGreaterThan(0)
  })
})

describe('revocation', () => {
  test(
    '[access-tokens.immediate] [machine-users.rotate] [machine-users.disable] revoked, deleted, expired, rotated and disabled credentials are refused by every process at once',
    { timeout: 600_000 },
    async () => {
      const database = await createScratchDatabase()
      const { world, addToken, addMachine, stop } = await prepare(database.url)
      for (let i = 0; i < 12; i++) await addToken(i % 2 === 0 ? 'query' : 'validate')
      for (let i = 0; i < 60; i++) await addMachine()
      await warm(world)
      // These four expire in the course of the run instead.
      const expiring = world.live.filter(({ kind }) => kind !== 'machine').slice(-4)
      const toEnd = allButOne(world).filter((live) => !expiring.includes(live))
      const expiresAt = await expireSoon(database.url, expiring)
      const { uses, endings } = await hammer(world, toEnd, runSeconds, { fewest: 30 })
      for (const [secret, at] of expiresAt) endings.set(secret, { askedAt: at, answeredAt: at })
      stop()
      await database.drop()
      const late = startedAfterEnd(uses, endings)
      const stale = acceptedAfterEnd(uses, endings)
      process.stdout.write(
        `revocation: accepted_after=${stale.length} of ${late.length} started after ${endings.size} endings, ${uses.length} uses\n`,
      )
      expect(stale).toEqual([])
      expect(refusedBeforeEnd(uses, endings)).toEqual([])
      expect(uses.length).toBeGreaterThan(1_250 * runSeconds)
      expect(endings.size).toBeGreaterThan(30)
      for (const secret of endings.keys())
        expect(late.some(({ credential }) => credential === secret)).toBe(true)
    },
  )
})

/** Lets the four tokens expire at each fifth of the run; answers when, by this process's clock. */
async function expireSoon(databaseUrl: string, tokens: Live[]): Promise<Map<string, number>> {
  const sql = new Pool({ connectionString: databaseUrl, max: 1 })
  const expiresAt = new Map<string, number>()
  for (const [index, { id, secret }] of tokens.entries()) {
    const at = Date.now() + ((index + 1) * runSeconds * 1_000) / 5
    await sql.query('update personal_access_tokens set expires_at = $2 where id = $1', [id, new Date(at)])
    expiresAt.set(secret, at - performance.timeOrigin)
  }
  await sql.end()
  return expiresAt
}
