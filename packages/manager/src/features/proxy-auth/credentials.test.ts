// These tests cover POST /api/validate-proxy-auth: valid credentials, and the responses to invalid
// credentials.
import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, proxySecret } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import {
  basicValue,
  bearer,
  call,
  createMachine,
  createToken,
  throughProxy,
  validate,
} from '@manager/harness/credentials.ts'
import { postQuery } from '@manager/harness/graphql.ts'
import { type RawAnswer, rawCall } from '../../../test/kit/http.ts'
import { useProject } from '../../../test/kit/project.ts'
import {
  password,
  proxyCredentials,
  refusalOf,
  refused,
  username,
} from '../../../test/kit/proxy-credentials.ts'
import { seedMember, seedUser } from '@manager/harness/seed.ts'

const path = '/api/validate-proxy-auth'

/** A second process of the same installation. */
let twin: TestApp
let alice: Person
let token: string
let machine: { id: string; token: string }
let basic: { id: string }

const { service, admin, project, other } = useProject({ withOther: true })
beforeAll(async () => {
  twin = await startTestApp({ database: service.database })
  alice = await seedUser(service.sql, 'alice')
  await seedMember(service.sql, alice, 'tester', { projectId: project.id })
  token = (await createToken(service, alice)).token
  machine = await bearerMachine()
  basic = await createMachine(service, admin, project.environmentId, { username, password })
})
afterAll(async () => {
  await twin.close()
})

const { nextClient, ask, bearerMachine, mutate, setEnabled, kdfRuns, expectOneHashPerRefusal } =
  proxyCredentials(() => ({ service, admin, project }))
const rotate = async (id: string): Promise<string> =>
  (await mutate('($id: ID!) { rotated: rotateMachineUserToken(id: $id) { generatedToken } }', { id })).rotated
    .generatedToken as string
const revoke = (id: string) => mutate('($id: ID!) { revokePersonalAccessToken(id: $id) { id } }', { id })

const raw = (body: string, type: string | null = 'application/json', client = nextClient()) => {
  const types: [string, string][] = type === null ? [] : [['content-type', type]]
  const headers = [...Object.entries(throughProxy(client)), ...types]
  return rawCall(service.url, { method: 'POST', path, headers, body })
}
const shapeOf = (answer: RawAnswer) => {
  const body = JSON.parse(answer.body) as Record<string, unknown>
  return [
    answer.status,
    body['valid'],
    typeof body['message'],
    Object.keys(body).filter((name) => name !== 'details'),
  ]
}
const failureShape = (status: number) => [status, false, 'string', ['valid', 'message', 'code', 'request_id']]

describe('a credential that holds', () => {
  const access = () => ({
    tenant: { id: project.tenantId, name: 'main-tenant' },
    application: {
      has_access: true,
      role: 'normal',
      available_tenants: [{ id: project.tenantId, name: 'main-tenant' }],
    },
  })

  test('[proxy-auth.request] [proxy-auth.kinds] [proxy-auth.success] [proxy-auth.application] a personal access token names its owner, and nothing else is said', async () => {
    const answer = await ask(`Bearer ${token}`)
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      valid: true,
      user: {
        id: alice.id,
        email: 'alice@example.com',
        name: 'alice',
        username: 'alice@example.com',
        is_machine_user: false,
        is_personal_token: true,
      },
      ...access(),
    })
  })

  test('[proxy-auth.kinds] [proxy-auth.success] [proxy-auth.role] a machine token names the machine user, which has no e-mail', async () => {
    const answer = await ask(`Bearer ${machine.token}`)
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      valid: true,
      user: {
        id: machine.id,
        email: '',
        name: 'test',
        username: `Bearer:${machine.token.slice(0, 8)}`,
        is_machine_user: true,
        is_personal_token: false,
      },
      ...access(),
    })
  })

  test('[proxy-auth.kinds] [proxy-auth.success] [proxy-auth.role] Basic works, with colons and UTF-8 in the password', async () => {
    const answer = await ask(basicValue(username, password))
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      valid: true,
      user: {
        id: basic.id,
        email: '',
        name: 'test',
        username,
        is_machine_user: true,
        is_personal_token: false,
      },
      ...access(),
    })
  })

  test('[proxy-auth.kinds] Basic holds nowhere else', async () => {
    const authorization = basicValue(username, password)
    const check = await call(service.url, '/api/machine/check', { authorization })
    expect([check.status, check.body.error]).toEqual([
      401,
      'Invalid authorization format. Expected: Bearer <token>',
    ])
    const query = await postQuery(
      service.url,
      { 'x-proxy-auth': proxySecret, authorization },
      '{ me { id } }',
    )
    expect([query.status, query.error]).toEqual([401, expect.stringMatching(/^no authenticated user/)])
    // The same routes accept the token with another scheme, so the scheme is the reason for the rejection.
    expect((await call(service.url, '/api/machine/check', bearer(machine.token))).body.authenticated).toBe(
      true,
    )
  })

  test('[proxy-auth.request] the scheme is read in any case, the application id too, and outer spaces do not matter', async () => {
    const id = project.applicationId.toUpperCase()
    for (const header of [
      `bearer ${token}`,
      ` BEARER  ${machine.token} `,
      `bAsIc ${basicValue(username, password).slice(6)}`,
    ])
      expect((await ask(header, id)).body).toMatchObject({ valid: true, application: { has_access: true } })
  })

  test('[proxy-auth.no-access] [proxy-auth.kinds] an application that is unknown or of another project gives no access; to Basic it names no project, so nothing holds', async () => {
    for (const id of [randomUUID(), other.applicationId]) {
      for (const value of [token, machine.token]) {
        const { status, body } = await ask(`Bearer ${value}`, id)
        expect(status).toBe(200)
        expect([body.valid, body.tenant, body.application]).toEqual([
          true,
          null,
          { has_access: false, role: null, available_tenants: [] },
        ])
      }
      expect(refusalOf(await ask(basicValue(username, password), id))).toEqual(refused)
    }
  })

  test('is hashed once per process, whatever its kind', async () => {
    const kinds = [`Bearer ${token}`, basicValue(username, password)]
    for (const value of kinds) await ask(value)
    const before = await kdfRuns()
    for (const value of [...kinds, ...kinds]) expect((await ask(value)).body).toMatchObject({ valid: true })
    expect(await kdfRuns()).toBe(before)
  })
})

describe('a credential that does not hold', () => {
  test('[proxy-auth.invalid] every kind is refused with one and the same text, whatever is wrong', async () => {
    const tokens: Record<string, { id: string; token: string }> = {}
    for (const name of ['deleted', 'revoked', 'expired', 'other'])
      tokens[name] = await createToken(service, alice)
    const valueOf = (name: string): string => tokens[name]?.token ?? ''
    await mutate('($id: ID!) { deletePersonalAccessToken(id: $id) }', { id: tokens['deleted']?.id })
    await revoke(tokens['revoked']?.id ?? '')
    const { sql } = service
    await sql.query(`update personal_access_tokens set expires_at = now() - interval '1 s' where id = $1`, [
      tokens['expired']?.id,
    ])
    await sql.query(
      `update personal_access_tokens t set hash = another.hash from personal_access_tokens another
       where t.id = $1 and another.id = $2`,
      [tokens['other']?.id, tokens['revoked']?.id],
    )
    const [disabled, rotated] = [await bearerMachine(), await bearerMachine()]
    await setEnabled(disabled.id, false)
    await rotate(rotated.id)
    const off = { username: 'off', password: 'right' }
    await setEnabled((await createMachine(service, admin, project.environmentId, off)).id, false)
    const lastOf = token.at(-1) === 'x' ? 'y' : 'x'
    const bad = {
      'a token never issued': `Bearer pat_${'a'.repeat(8)}_${'b'.repeat(32)}`,
      'a token with another last character': `Bearer ${token.slice(0, -1)}${lastOf}`,
      'a deleted token': `Bearer ${valueOf('deleted')}`,
      'a revoked token': `Bearer ${valueOf('revoked')}`,
      'an expired token': `Bearer ${valueOf('expired')}`,
      'a token whose row holds another hash': `Bearer ${valueOf('other')}`,
      'an unknown machine token': `Bearer ${randomBytes(32).toString('base64url')}`,
      'a disabled machine user': `Bearer ${disabled.token}`,
      'a rotated machine token': `Bearer ${rotated.token}`,
      'an unknown user name': basicValue('nobody', password),
      'a wrong password': basicValue(username, `${password}x`),
      'a password without its outer space': basicValue(username, password.trim()),
      'an empty password': basicValue(username, ''),
      'a disabled Basic machine user': basicValue(off.username, off.password),
      'a user name in another case': basicValue('backend', password),
      'a user name with a space': basicValue(` ${username}`, password),
      'a password in Latin-1': `Basic ${Buffer.from(`${username}:wörd`, 'latin1').toString('base64')}`,
      'a machine token as Basic': basicValue(`Bearer:${machine.token.slice(0, 8)}`, machine.token),
      'a token as Basic': basicValue('alice@example.com', token),
      'Basic without a colon': `Basic ${Buffer.from(username).toString('base64')}`,
      'Basic without a user name': basicValue('', password),
      'Basic that is not base64': 'Basic !!!!',
      'Basic in base64url': `Basic ${Buffer.from('>>>?:?>?').toString('base64url')}`,
      'Basic with nothing': 'Basic',
      'Bearer with nothing': 'Bearer',
      'a machine token without a scheme': 'x'.repeat(43),
      'another scheme': `Digest ${token}`,
      'two values': `Bearer ${token} ${token}`,
      'letters outside ASCII': `Bearer ${token}ö`,
    }
    for (const [what, header] of Object.entries(bad))
      expect([what, refusalOf(await ask(header))]).toEqual([what, refused])
  })

  test('[proxy-auth.invalid] an unknown user, a disabled one and a wrong password all cost one run of the slow hash', async () => {
    await expectOneHashPerRefusal(machine.token)
  })

  test('a user name that cannot be stored does not disturb the calls beside it', async () => {
    const [good, client, stranger] = [basicValue(username, password), nextClient(), nextClient()]
    const send = (bad: boolean) =>
      validate(
        service.url,
        bad ? basicValue('\0', 'x') : good,
        project.applicationId,
        bad ? stranger : client,
      )
    await send(false)
    const answers = await Promise.all(Array.from({ length: 40 }, (_, index) => send(index === 20)))
    expect(answers.map(({ status }) => status)).toEqual(answers.map((_, index) => (index === 20 ? 401 : 200)))
  })

  test('forged tokens cost no run of the slow hash', async () => {
    const before = await kdfRuns()
    for (const value of [`pat_${'c'.repeat(8)}_${'d'.repeat(32)}`, randomBytes(32).toString('base64url')])
      expect((await ask(`Bearer ${value}`)).status).toBe(401)
    expect(await kdfRuns()).toBe(before)
  })

  test('[proxy-auth.kinds] a user name belongs to its project: the same one elsewhere has its own password', async () => {
    const twinName = { username, password: 'of the other project' }
    const created = await createMachine(service, admin, other.environmentId, twinName)
    const there = await ask(basicValue(username, twinName.password), other.applicationId)
    expect(there.body.user.id).toBe(created.id)
    expect((await ask(basicValue(username, password))).body.user.id).toBe(basic.id)
    expect(refusalOf(await ask(basicValue(username, twinName.password)))).toEqual(refused)
    expect(refusalOf(await ask(basicValue(username, password), other.applicationId))).toEqual(refused)
  })
})

describe('a change made in one process', () => {
  test('[proxy-auth.invalid] a rotated or disabled Basic machine user is refused at once in the other, although the password is known there', async () => {
    const login = { username: 'rolling', password: 'first' }
    const { id } = await createMachine(service, admin, project.environmentId, login)
    const client = nextClient()
    const there = (secret: string) =>
      validate(twin.url, basicValue(login.username, secret), project.applicationId, client)
    for (const _ of [1, 2]) expect((await there('first')).status).toBe(200)
    const second = await rotate(id)
    expect(refusalOf(await there('first'))).toEqual(refused)
    expect((await there(second)).body.user.id).toBe(id)
    await setEnabled(id, false)
    expect(refusalOf(await there(second))).toEqual(refused)
    await setEnabled(id, true)
    expect((await there(second)).status).toBe(200)
  })

  test('[proxy-auth.invalid] the same holds for a revoked token and for a rotated or disabled machine token', async () => {
    const mine = await createToken(service, alice)
    const { id, token: first } = await bearerMachine()
    const there = (value: string) => ask(`Bearer ${value}`, project.applicationId, twin)
    for (const value of [mine.token, first]) expect((await there(value)).status).toBe(200)
    await revoke(mine.id)
    expect(refusalOf(await there(mine.token))).toEqual(refused)
    const second = await rotate(id)
    expect(refusalOf(await there(first))).toEqual(refused)
    expect((await there(second)).status).toBe(200)
    await setEnabled(id, false)
    expect(refusalOf(await there(second))).toEqual(refused)
  })
})

describe('a malformed request', () => {
  const good = () => ({ authorization_header: 'Bearer nonsense', application_id: project.applicationId })
  const badBodies = (): [string, string][] => {
    const changed = (change: object): string => JSON.stringify({ ...good(), ...change })
    const values: object[] = [
      ...[undefined, null, '', '   ', 7, true, {}, ['Bearer x'], `Bearer ${'x'.repeat(8_186)}`].map(
        (authorization_header) => ({ authorization_header }),
      ),
      ...[undefined, null, '', 'x', 7, [randomUUID()], `{${randomUUID()}}`, `${randomUUID()} `].map(
        (application_id) => ({ application_id }),
      ),
    ]
    const texts = ['', '{', 'null', '7', '"text"', '[]', '[{}]', '{}', '{"__proto__": {}}']
    return [...values.map(changed), ...texts].map((text) => [text.slice(0, 80), text])
  }

  test('[proxy-auth.invalid] is answered 400 in the same shape', async () => {
    for (const [what, body] of badBodies())
      expect([what, ...shapeOf(await raw(body))]).toEqual([what, ...failureShape(400)])
    // A header of the maximum length is well-formed, so it is rejected as an invalid credential and not as malformed.
    const longest = `Bearer ${'x'.repeat(8_185)}`
    expect((await ask(longest)).status).toBe(401)
  })

  test('[proxy-auth.invalid] another content type is answered 415, a body over 16 KiB 413', async () => {
    const text = JSON.stringify(good())
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', null])
      expect([type, ...shapeOf(await raw(text, type))]).toEqual([type, ...failureShape(415)])
    expect(shapeOf(await raw(text.padEnd(16_385)))).toEqual(failureShape(413))
    expect(shapeOf(await raw(text.padEnd(16_384)))).toEqual(failureShape(401))
  })

  test('[proxy-auth.invalid] [proxy-auth.lockout] does not count as a failure', async () => {
    const client = nextClient()
    for (const [, body] of badBodies()) await raw(body, 'application/json', client)
    await raw('x'.repeat(20_000), 'application/json', client)
    await raw('x', 'text/plain', client)
    const failures = []
    for (let i = 0; i < 11; i++)
      failures.push((await validate(service.url, 'Bearer nonsense', project.applicationId, client)).status)
    expect(failures).toEqual([...Array.from({ length: 10 }, () => 401), 429])
  })
})
