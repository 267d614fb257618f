// These tests cover Bearer authentication of machine users on /api/machine/* and /esb/*, and GET /api/machine/check.
import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, headersOf } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import {
  type JsonAnswer,
  basicValue,
  bearer,
  call,
  createMachine,
  createToken,
  throughProxy,
} from '@manager/harness/credentials.ts'
import { type RawCall, rawCall } from '../../../test/kit/http.ts'
import { freshClient, machineCalls } from '../../../test/kit/machines.ts'
import { uuid } from '../../../test/kit/members.ts'
import { type SeededProject, seedMachineUser, seedProject, seedUser } from '@manager/harness/seed.ts'

const check = '/api/machine/check'
// This test registers the first two paths. The other paths match no route.
const whoami = ['/api/machine/test-whoami', '/esb/test-whoami']
const nowhere = ['/api/machine/nothing', '/api/machine/', `/esb/${randomUUID()}/some/path`, '/esb/?x=/y']
const addresses = [...whoami, ...nowhere]
const formatText = 'Invalid authorization format. Expected: Bearer <token>'
const refusal = 'Invalid token: it belongs to no enabled machine user'

let service: TestApp
let withoutSecret: TestApp
let admin: Person
let project: SeededProject
let machine: { id: string; token: string }

beforeAll(async () => {
  const transport = {
    extend: (server: TestApp['app']['server']) => {
      const config = { policy: { machine: 'tells a test who is calling' } }
      for (const path of whoami) server.all(path, { config }, (request) => request.machine)
    },
  }
  service = await startTestApp({ transport })
  withoutSecret = await startTestApp({
    env: { SVC_PROXY_SECRET: undefined },
    database: service.database,
    transport,
  })
  admin = await seedUser(service.sql, 'admin', 'administrator')
  project = await seedProject(service.sql, 'main')
  machine = await seedMachineUser(service.sql, project)
})
afterAll(async () => {
  await withoutSecret.close()
  await service.close()
})

const { rotate, update, remove } = machineCalls(() => service)

/** Sends a request as a client without earlier failures. */
const ask = (path: string, headers: Record<string, string> = {}): Promise<JsonAnswer> =>
  call(service.url, path, { ...throughProxy(freshClient()), ...headers })
const randomToken = (): string => randomBytes(32).toString('base64url')

/** Returns tokens that are no longer valid or that only look valid, keyed by the defect. */
async function badTokens(): Promise<Record<string, string>> {
  const [rotated, disabled, deleted] = [
    await seedMachineUser(service.sql, project),
    await seedMachineUser(service.sql, project),
    await seedMachineUser(service.sql, project),
  ]
  await rotate(admin, rotated.id)
  await update(admin, disabled.id, { enabled: false })
  await remove(admin, deleted.id)
  return {
    unknown: randomToken(),
    rotated: rotated.token,
    disabled: disabled.token,
    deleted: deleted.token,
    short: machine.token.slice(0, -1),
    long: `${machine.token}A`,
    prefix: machine.token.slice(0, 8),
    shouted: machine.token.toUpperCase(),
    hash: 'a'.repeat(64),
    quoted: `"${machine.token}"`,
  }
}

describe('Bearer authentication', () => {
  test('[machine-auth.bearer] a good token opens machine and ESB addresses, with no, a wrong or an unconfigured proxy secret', async () => {
    for (const app of [service, withoutSecret])
      for (const extra of [{}, { 'x-proxy-auth': 'wrong' }] as Record<string, string>[]) {
        for (const path of whoami) {
          const { status, body } = await call(app.url, path, { ...bearer(machine.token), ...extra })
          expect(status).toBe(200)
          expect(body).toEqual({
            id: machine.id,
            name: 'seeded',
            username: `Bearer:${machine.token.slice(0, 8)}`,
            environmentId: project.environmentId,
            projectId: project.id,
            endpointsVersion: expect.stringMatching(/^\d+\.[0-9a-f]+$/),
          })
        }
        for (const path of nowhere)
          expect((await call(app.url, path, { ...bearer(machine.token), ...extra })).status).toBe(404)
      }
    for (const scheme of ['bearer', 'BEARER', 'Bearer ']) {
      const headers = { authorization: `${scheme} ${machine.token}` }
      expect((await ask('/esb/test-whoami', headers)).body.id).toBe(machine.id)
    }
  })

  test('[machine-auth.bearer] without a header an address is closed, whether a route is there or not, for every method', async () => {
    for (const path of addresses)
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const send = (...headers: [string, string][]) => {
          const withBody = { headers: [['content-type', 'application/json'], ...headers], body: '{}' }
          return rawCall(service.url, {
            method,
            path,
            ...(method === 'GET' ? { headers } : withBody),
          } as RawCall)
        }
        const closed = await send()
        expect([method, path, closed.status]).toEqual([method, path, 401])
        expect(JSON.parse(closed.body)).toMatchObject({
          error: 'Missing Authorization header. Expected: Bearer <token>',
        })
        const open = await send(['Authorization', `Bearer ${machine.token}`])
        expect([method, path, open.status]).toEqual([method, path, whoami.includes(path) ? 200 : 404])
      }
  })

  test('[machine-auth.wrong-scheme] any other form is refused with the documented text before anything is looked up', async () => {
    const basic = basicValue('machine', machine.token)
    service.statements.length = 0
    for (const authorization of [
      basic,
      basic.toLowerCase(),
      `Digest username="${machine.token}"`,
      `Token ${machine.token}`,
      `BearerX ${machine.token}`,
      `Bearer${machine.token}`,
      `Bearer: ${machine.token}`,
      `Bearer ${machine.token} ${machine.token}`,
      `Bearer ${machine.token}, Bearer ${machine.token}`,
      'Bearer',
      machine.token,
      `Bearer ${'x'.repeat(9_000)}`,
    ])
      for (const path of [check, ...addresses]) {
        const { status, body } = await ask(path, { authorization })
        expect([path, status]).toEqual([path, 401])
        expect(body).toEqual({ error: formatText, code: 'unauthenticated', request_id: uuid })
      }
    expect(service.statements).toEqual([])
  })

  test('[machine-auth.wrong-scheme] two Authorization headers are refused, even when both are right', async () => {
    const good = `Bearer ${machine.token}`
    service.statements.length = 0
    for (const pair of [
      [good, good],
      [good, 'Bearer x'],
      [basicValue('a', 'b'), good],
    ])
      for (const path of [check, ...addresses]) {
        const headers = pair.map((value): [string, string] => ['Authorization', value])
        const answer = await rawCall(service.url, { path, headers })
        expect([path, answer.status]).toEqual([path, 401])
        expect(JSON.parse(answer.body)).toMatchObject({ error: formatText })
      }
    expect(service.statements).toEqual([])
  })

  test('[machine-auth.invalid-token] an unknown, rotated, disabled or deleted token reads the same everywhere', async () => {
    const bad = { ...(await badTokens()), pat: (await createToken(service, admin)).token }
    for (const [what, token] of Object.entries(bad))
      for (const path of addresses) {
        const { status, body } = await ask(path, bearer(token))
        expect([what, path, status]).toEqual([what, path, 401])
        expect(body).toEqual({ error: refusal, code: 'unauthenticated', request_id: uuid })
      }
  })

  test('[machine-auth.invalid-token] a text that cannot be a token is refused without a look into the database', async () => {
    service.statements.length = 0
    for (const token of [machine.token.slice(1), `${machine.token}=`, `${machine.token.slice(1)}+`, 'pat_x'])
      for (const path of addresses) expect((await ask(path, bearer(token))).body.error).toBe(refusal)
    expect(service.statements).toEqual([])
    await ask('/esb/', bearer(randomToken()))
    expect(service.statements).toHaveLength(1)
  })

  test('[machine-auth.basic-user] the password of a Basic machine user opens nothing here, in no header', async () => {
    // The password has the format of a token, so that it is looked up as one.
    const first = randomToken()
    const basic = await createMachine(service, admin, project.environmentId, {
      username: 'basic',
      password: first,
    })
    const rotated = (await rotate(admin, basic.id)).data.made.generatedToken as string
    const both = Buffer.from(`basic:${rotated}`).toString('base64')
    for (const path of addresses) {
      for (const token of [first, rotated, both, basic.id]) {
        const { status, body } = await ask(path, bearer(token))
        expect([status, body.error]).toEqual([401, refusal])
      }
      const { status, body } = await ask(path, { authorization: `Basic ${both}` })
      expect([status, body.error]).toEqual([401, formatText])
    }
    expect((await ask(check, bearer(rotated))).body.authenticated).toBe(false)
  })

  test('[machine-auth.bearer] a machine token opens nothing behind the proxy gate', async () => {
    const body = { query: '{ me { id } }' }
    const direct = await call(service.url, '/query', bearer(machine.token), body)
    expect([direct.status, direct.body.error]).toEqual([
      401,
      expect.stringMatching(/^missing or invalid X-Proxy-Auth header/),
    ])
    const proxied = await call(service.url, '/query', { ...throughProxy(), ...bearer(machine.token) }, body)
    expect([proxied.status, proxied.body.error]).toEqual([
      401,
      expect.stringMatching(/^no authenticated user/),
    ])
    // A forwarded user identity does not give access to machine routes either.
    for (const path of addresses) expect((await call(service.url, path, headersOf(admin))).status).toBe(401)
  })

  test('[machine-auth.bearer] the log names the machine user and never the token', async () => {
    await ask('/esb/test-whoami', bearer(machine.token))
    await ask('/esb/test-whoami', bearer(`${machine.token}A`))
    expect(service.logLines).toContainEqual(
      expect.objectContaining({ route: '/esb/test-whoami', machine_user: machine.id }),
    )
    expect(JSON.stringify(service.logLines)).not.toContain(machine.token)
  })
})

describe('GET /api/machine/check', () => {
  test('[machine-auth.check-valid] a good token is answered with its machine user and environment, and nothing else', async () => {
    for (const { url } of [service, withoutSecret]) {
      const { status, body } = await call(url, check, bearer(machine.token))
      expect(status).toBe(200)
      expect(body).toEqual({
        authenticated: true,
        machine_user_id: machine.id,
        environment_id: project.environmentId,
      })
    }
  })

  test('[machine-auth.check-invalid] a token that does not resolve is answered 200 with a message that is the same for all', async () => {
    for (const [what, token] of Object.entries(await badTokens())) {
      const { status, body } = await ask(check, bearer(token))
      expect([what, status]).toEqual([what, 200])
      expect(body).toEqual({ authenticated: false, message: refusal })
    }
  })

  test('[machine-auth.check-invalid] no header, or an empty one, is answered 200 as well', async () => {
    for (const headers of [[], [['Authorization', '']]] as [string, string][][])
      for (const { url } of [service, withoutSecret]) {
        const answer = await rawCall(url, { path: check, headers })
        expect(answer.status).toBe(200)
        expect(JSON.parse(answer.body)).toEqual({ authenticated: false, message: expect.stringMatching(/./) })
      }
  })

  test('[machine-auth.check-valid] the answer follows the state of the machine user', async () => {
    const { id, token } = await seedMachineUser(service.sql, project)
    for (const enabled of [false, true]) {
      await update(admin, id, { enabled })
      expect((await ask(check, bearer(token))).body.authenticated).toBe(enabled)
    }
    const fresh = (await rotate(admin, id)).data.made.generatedToken as string
    expect((await ask(check, bearer(token))).body.authenticated).toBe(false)
    expect((await ask(check, bearer(fresh))).body).toMatchObject({ machine_user_id: id })
    await remove(admin, id)
    expect((await ask(check, bearer(fresh))).body.authenticated).toBe(false)
  })
})
