// Tests the error responses of every route: each has the format of its group, a code and the request id.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, headersOf } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from './kit/app.ts'
import { tenantHeaders } from './kit/inbox.ts'
import { basicValue, bearer, createToken, throughProxy } from '@manager/harness/credentials.ts'
import { rawCall } from './kit/http.ts'
import { whileLocked } from './kit/locks.ts'
import { type ApiRoute, routesOf } from './kit/routes.ts'
import { createScimToken, errorSchema } from './kit/scim.ts'
import { seedMachineUser, seedProject, seedUser } from '@manager/harness/seed.ts'

let service: TestApp
let person: Person
let machineToken: string
let scimToken: string
beforeAll(async () => {
  service = await startTestApp({ env: { SVC_GRAPHQL_MAX_BODY_BYTES: '65536' } })
  person = await seedUser(service.sql, 'person')
  machineToken = (await seedMachineUser(service.sql, await seedProject(service.sql, 'main'))).token
  const admin = await seedUser(service.sql, 'admin', 'administrator')
  scimToken = (await createScimToken(service, admin)).token
})
afterAll(() => service.close())

type Lines = Record<string, string>
type Shape = 'envelope' | 'error' | 'validation' | 'graphql' | 'page' | 'scim'
type Refusal = { status: number; shape: Shape; headers?: () => Lines; query?: string; body?: string }
const asProxy = (): Lines => throughProxy()
const asBrowser = (): Lines => ({ ...throughProxy(), accept: 'text/html' })
const asMachine = (): Lines => bearer(machineToken)
const asScim = (): Lines => ({ ...throughProxy(), ...bearer(scimToken) })
const asTenantUser = (): Lines => Object.fromEntries(tenantHeaders(person, { tenantId: person.id }))

/** For each route: a call that passes authentication and then fails. The health routes always return a status. */
const refusals: Record<string, Refusal> = {
  'POST /query': { status: 400, shape: 'graphql', headers: () => headersOf(person), body: '{}' },
  'GET /api/machine/check': {
    status: 401,
    shape: 'error',
    headers: () => ({ authorization: basicValue('a', 'b') }),
  },
  'POST /api/machine/register-backend': { status: 400, shape: 'envelope', headers: asMachine, body: '{}' },
  'PUT /api/machine/backend/:id/heartbeat': { status: 404, shape: 'envelope', headers: asMachine },
  'DELETE /api/machine/backend/:id': { status: 404, shape: 'envelope', headers: asMachine },
  'GET /api/machine/application/:id/tenants': { status: 404, shape: 'envelope', headers: asMachine },
  'POST /api/machine/comms/emit': { status: 400, shape: 'error', headers: asMachine, body: '{}' },
  'POST /api/machine/comms/publish': { status: 400, shape: 'error', headers: asMachine, body: '{}' },
  'ANY /esb/*': { status: 404, shape: 'error', headers: asMachine },
  'GET /api/frontend-config/:application_id': { status: 404, shape: 'error' },
  'GET /api/frontend-config/:application_id/:tenant_id': { status: 404, shape: 'error' },
  'GET /language-packs/:applicationId/:locale': { status: 404, shape: 'error' },
  'GET /pilet-feed/:applicationId': { status: 404, shape: 'error' },
  'GET /pilet-feed/:applicationId/:tenantId': { status: 404, shape: 'error' },
  'GET /pilet-bundle/:applicationId/:projectId/:name/:version': { status: 404, shape: 'error' },
  'GET /pilet-keys/:applicationId': { status: 404, shape: 'error' },
  'GET /api/proxy/user/:user_id/tenants': {
    status: 400,
    shape: 'error',
    query: '?application_id=a&application_id=b',
  },
  'POST /api/proxy/wake': { status: 400, shape: 'error', body: '{}' },
  'GET /api/proxy/ready': { status: 400, shape: 'error' },
  'GET /api/proxy/deployment': { status: 404, shape: 'error', query: '?app_id=a&env=dev' },
  'GET /api/proxy/comms/:appID/notifications': {
    status: 400,
    shape: 'error',
    headers: asTenantUser,
    query: '?limit=0',
  },
  // The only input of this route is the caller's identity.
  'GET /api/proxy/comms/:appID/unread': { status: 401, shape: 'error' },
  'POST /api/proxy/comms/:appID/notifications/read': {
    status: 400,
    shape: 'error',
    headers: asTenantUser,
    body: '{}',
  },
  'POST /api/proxy/comms/:appID/notifications/seen': {
    status: 400,
    shape: 'error',
    headers: asTenantUser,
    body: '{}',
  },
  'GET /api/proxy/comms/:appID/ws': {
    status: 400,
    shape: 'error',
    headers: asTenantUser,
  },
  'GET /api/audit/export': { status: 403, shape: 'error', headers: () => headersOf(person) },
  'GET /pilets/:projectId': { status: 403, shape: 'error', headers: () => headersOf(person) },
  'POST /pilets/:projectId/:name/:version': { status: 403, shape: 'error', headers: () => headersOf(person) },
  'GET /pilets/:projectId/:name/:version': { status: 403, shape: 'error', headers: () => headersOf(person) },
  'DELETE /pilets/:projectId/:name/:version': {
    status: 403,
    shape: 'error',
    headers: () => headersOf(person),
  },
  'GET /api/audit/evidence': { status: 403, shape: 'error', headers: () => headersOf(person) },
  'GET /api/audit/evidence/:name': { status: 403, shape: 'error', headers: () => headersOf(person) },
  'POST /api/cli/login/start': { status: 400, shape: 'error', body: '{}' },
  'POST /api/cli/login/poll': { status: 400, shape: 'error', body: '{}' },
  'GET /cli/authorize': {
    status: 400,
    shape: 'page',
    headers: () => headersOf(person),
    query: '?code=a&code=b',
  },
  'POST /cli/authorize': { status: 415, shape: 'page', headers: () => headersOf(person) },
  // The only input of these routes is the caller's identity.
  'GET /console': { status: 401, shape: 'page', headers: asBrowser },
  'GET /console/*': { status: 401, shape: 'page', headers: asBrowser },
  'GET /console/assets/:file': { status: 404, shape: 'error' },
  'GET /api/access/review': { status: 403, shape: 'error', headers: () => headersOf(person) },
  'POST /api/access/review': { status: 403, shape: 'page', headers: () => headersOf(person) },
  'POST /api/access/review/attest': {
    status: 403,
    shape: 'error',
    headers: () => headersOf(person),
    body: '{}',
  },
  // The only input of these routes is the token.
  'GET /scim/v2/ServiceProviderConfig': { status: 401, shape: 'scim' },
  'GET /scim/v2/ResourceTypes': { status: 401, shape: 'scim' },
  'GET /scim/v2/Schemas': { status: 401, shape: 'scim' },
  'GET /scim/v2/ResourceTypes/:id': { status: 404, shape: 'scim', headers: asScim },
  'GET /scim/v2/Schemas/:id': { status: 404, shape: 'scim', headers: asScim },
  'GET /scim/v2/Users': { status: 400, shape: 'scim', headers: asScim, query: '?count=x' },
  'POST /scim/v2/Users': { status: 400, shape: 'scim', headers: asScim, body: '{}' },
  'GET /scim/v2/Users/:id': { status: 404, shape: 'scim', headers: asScim },
  'PUT /scim/v2/Users/:id': { status: 404, shape: 'scim', headers: asScim, body: '{"userName": "x"}' },
  'PATCH /scim/v2/Users/:id': { status: 400, shape: 'scim', headers: asScim, body: '{}' },
  'DELETE /scim/v2/Users/:id': { status: 404, shape: 'scim', headers: asScim },
  'GET /scim/v2/Groups': { status: 400, shape: 'scim', headers: asScim, query: '?filter=x' },
  'POST /scim/v2/Groups': { status: 400, shape: 'scim', headers: asScim, body: '{}' },
  'GET /scim/v2/Groups/:id': { status: 404, shape: 'scim', headers: asScim },
  'PUT /scim/v2/Groups/:id': { status: 404, shape: 'scim', headers: asScim, body: '{"displayName": "x"}' },
  'PATCH /scim/v2/Groups/:id': { status: 400, shape: 'scim', headers: asScim, body: '{}' },
  'DELETE /scim/v2/Groups/:id': { status: 404, shape: 'scim', headers: asScim },
  'POST /api/validate-proxy-auth': { status: 400, shape: 'validation', body: '{}' },
  'POST /api/validate-oauth-user': { status: 400, shape: 'validation', body: '{}' },
}
const withoutRefusal = ['GET /health']

type Failed = { name: string; status: number; headers: NodeJS.Dict<string | string[]>; body: unknown }
async function send(app: TestApp, name: string, change: Partial<Refusal> & { type?: string } = {}) {
  const { method, path } = routesOf(app).find((route) => route.name === name) as ApiRoute
  const { headers = asProxy, query = '', body, type = 'application/json' } = { ...refusals[name], ...change }
  const lines: Lines = { ...headers(), ...(body !== undefined && { 'content-type': type }) }
  const call = { method, path: `${path}${query}`, headers: Object.entries(lines) }
  const answer = await rawCall(app.url, { ...call, ...(body !== undefined && { body }) })
  const isJson = /^application\/(?:scim\+)?json/.test(String(answer.headers['content-type']))
  const { status } = answer
  return { name, status, headers: answer.headers, body: isJson ? JSON.parse(answer.body) : answer.body }
}

const text = expect.stringMatching(/./)
type Problem = { path: string; message: string }
/** Returns the problems that an error body lists, and expects each to have a path and a message. */
function findProblems(body: unknown): Problem[] | undefined {
  const { details, errors } = body as {
    details?: Problem[]
    errors?: { extensions: { fields?: Problem[] } }[]
  }
  const problems = details ?? errors?.[0]?.extensions.fields
  if (problems !== undefined) {
    expect(problems.length).toBeGreaterThan(0)
    expect(problems).toEqual(problems.map(() => ({ path: text, message: text })))
  }
  return problems
}

/** The optional keyword of a SCIM error. */
const scimTypeOf = (body: unknown): object =>
  typeof body === 'object' && body !== null && 'scimType' in body ? { scimType: text } : {}

/** Expects a body of this shape that contains only its message, a code, the request id and the invalid values. */
function expectShape({ name, status, headers, body }: Failed, shape: Shape): void {
  const code = expect.stringMatching(/^[a-z]+(_[a-z]+)*$/)
  const added = { code, request_id: headers['x-request-id'] }
  const problems = findProblems(body)
  const details = problems === undefined ? {} : { details: problems }
  const fields = problems === undefined ? {} : { fields: problems }
  const bodies = {
    envelope: { success: false, message: text, ...added, ...details },
    error: { error: text, ...added, ...details },
    validation: { valid: false, message: text, ...added, ...details },
    graphql: { errors: [{ message: text, extensions: { ...added, ...fields } }], data: null },
    scim: { schemas: [errorSchema], status: String(status), detail: text, ...scimTypeOf(body) },
    page: expect.stringContaining(`Request id: ${headers['x-request-id'] as string}`) as unknown,
  }
  expect([name, body]).toEqual([name, bodies[shape]])
  const type = { page: 'text/html', scim: 'application/scim+json' }[shape as string] ?? 'application/json'
  expect([name, headers['content-type']]).toEqual([name, `${type}; charset=utf-8`])
}

describe('error bodies', () => {
  test('[errors.shape-error] [errors.additions] every route answers in the shape of its group', async () => {
    const names = routesOf(service).map(({ name }) => name)
    // Every new route needs an entry in `refusals`.
    expect(names.toSorted()).toEqual([...Object.keys(refusals), ...withoutRefusal].toSorted())
    for (const [name, { status, shape }] of Object.entries(refusals)) {
      const failed = await send(service, name)
      expect([name, failed.status]).toEqual([name, status])
      expectShape(failed, shape)
    }
    for (const [path, headers] of [
      ['/api/nowhere', asProxy()],
      ['/api/machine/nowhere', asMachine()],
    ] as const) {
      const answer = await rawCall(service.url, { path, headers: Object.entries(headers) })
      expect([path, answer.status]).toEqual([path, 404])
      expectShape({ ...answer, name: path, body: JSON.parse(answer.body) }, 'error')
    }
  })

  test('[errors.body] a body that is too large, or of another type, is refused on every route that reads one', async () => {
    // The gateway forwards bodies without reading them. features/pilets/forms.test.ts and features/cli-login/ test
    // forms, and features/access-reviews/ tests administrator requests.
    const readers = routesOf(service).filter(
      ({ name, method }) =>
        method === 'POST' && name !== 'ANY /esb/*' && !/^POST \/(?:pilets|cli|api\/access)\//.test(name),
    )
    expect(readers.length).toBeGreaterThan(2)
    for (const { name } of readers) {
      const { shape } = refusals[name] as Refusal
      const size = name.endsWith('/Groups') ? 4_200_000 : 200_000
      const large = await send(service, name, { body: `"${'x'.repeat(size)}"` })
      expect([name, large.status]).toEqual([name, 413])
      expectShape(large, shape)
      for (const type of ['text/plain', 'application/xml', 'application/json; charset=latin1', '']) {
        const typed = await send(service, name, { body: '{}', type })
        expect([name, type, typed.status]).toEqual([name, type, 415])
        expectShape(typed, shape)
      }
    }
  })

  test('[errors.bad-token] an invalid, expired or revoked token, and a header of another form, answer 401', async () => {
    const expired = await createToken(service, person, { expiresAt: '2099-01-01T00:00:00Z' })
    await service.sql.query(
      "update personal_access_tokens set expires_at = now() - interval '1 s' where id = $1",
      [expired.id],
    )
    const revoked = await createToken(service, person)
    await service.query(person, `mutation { revokePersonalAccessToken(id: "${revoked.id}") { id } }`)
    const personal = [
      'nonsense',
      'pat_00000000_00000000000000000000000000000000',
      expired.token,
      revoked.token,
    ]
    const asked = { body: '{"query":"{ me { id } }"}' }
    for (const token of personal) {
      const headers = () => ({ ...asProxy(), ...bearer(token) })
      const failed = await send(service, 'POST /query', { ...asked, headers })
      expect([token, failed.status]).toEqual([token, 401])
      expectShape(failed, 'error')
    }
    const machine = [bearer('nonsense'), bearer(machineToken.slice(1)), { authorization: machineToken }]
    for (const headers of [...machine, { authorization: basicValue('a', machineToken) }, {}]) {
      const failed = await send(service, 'ANY /esb/*', { headers: () => headers })
      expect([headers, failed.status]).toEqual([headers, 401])
      expectShape(failed, 'error')
    }
  })

  test('[errors.overload] while the event loop lags every route but the health routes returns 503 with Retry-After', async () => {
    const transport = { loopDelayMs: () => 2_000 }
    const busy = await startTestApp({ transport, database: service.database })
    for (const [name, { shape }] of Object.entries(refusals)) {
      const failed = await send(busy, name)
      expect([name, failed.status]).toEqual([name, 503])
      expect(failed.headers['retry-after']).toMatch(/^[1-9]\d*$/)
      expectShape(failed, shape)
    }
    await busy.close()
  })

  test('[errors.overload] a full queue for connections refuses the caller with the most waiting requests, and no one else', async () => {
    const env = { SVC_DATABASE_POOL_SIZE: '1', SVC_DATABASE_MAX_WAITING: '2' }
    const busy = await startTestApp({ env, database: service.database })
    const other = await seedUser(service.sql, 'other')
    const ask = (caller: Person) => busy.query(caller, '{ projects { id } }')
    const lock: [string, unknown[]] = ['lock table projects in access exclusive mode', []]
    const answers = await whileLocked(service.database.url, lock, async (commit) => {
      const waiting = (): number => busy.world.database.waiting()
      const asked = [ask(person)]
      await expect.poll(() => busy.world.database.pools.requests.idleCount).toBe(0)
      const oldest = ask(person)
      await expect.poll(waiting).toBe(1)
      asked.push(ask(person))
      await expect.poll(waiting).toBe(2)
      asked.push(ask(other))
      expect((await oldest).error).toBe('too many requests are waiting for the database; try again')
      // A route that does not need database connections still works.
      expect((await send(busy, 'GET /api/machine/check')).status).toBe(401)
      await commit()
      return Promise.all(asked)
    })
    expect(answers.map(({ error }) => error)).toEqual([null, null, null])
    const metrics = await busy.world.metrics.registry.metrics()
    expect(metrics).toContain('svc_shed_total{point="db_pool"} 1')
    await busy.close()
  })
})
