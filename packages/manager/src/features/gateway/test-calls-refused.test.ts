// These tests cover test calls that are rejected. None of them reaches the partner or leaves a record.
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import {
  type SeededProject,
  seedMachineUser,
  seedMember,
  seedProject,
  seedUser,
} from '@manager/harness/seed.ts'
import { seedEndpoint, seedEndpointAccess } from '../../../test/kit/endpoints.ts'
import { type Gateway, startGateway } from '../../../test/kit/gateway.ts'
import { waitForLockWait, whileLocked } from '../../../test/kit/locks.ts'
import { expectRefused } from '../../../test/kit/members.ts'
import { type TestCallInput, testEndpoint } from '../../../test/kit/test-calls.ts'

let gateway: Gateway
let maintainer: Person
let target: { id: string; accessId: string }
beforeAll(async () => {
  gateway = await startGateway({ env: { SVC_ESB_TEST_CALLS_PER_MINUTE: '10000' } })
  maintainer = await memberOf('maintainer')
  target = await gateway.endpoint({ url: gateway.upstream.url })
})
afterAll(() => gateway.close())
afterEach(async () => {
  expect(gateway.upstream.received).toEqual([])
  const { rows } = await gateway.service.sql.query(
    `select (select count(*)::int from esb_audit_logs) as logged,
       (select count(*)::int from audit_logs where action = 'test') as audited`,
  )
  expect(rows).toEqual([{ logged: 0, audited: 0 }])
})

async function memberOf(role: string, project: SeededProject = gateway.project): Promise<Person> {
  const person = await seedUser(gateway.service.sql, `${role}-${randomUUID()}`)
  await seedMember(gateway.service.sql, person, role, { projectId: project.id })
  return person
}
const call = (input: Partial<TestCallInput> = {}, by = maintainer, endpointId = target.id) =>
  testEndpoint(gateway.service, by, endpointId, { machineUserId: gateway.machine.id, ...input })

describe('who may call in whose name', () => {
  test('developers are refused, and people without access see no endpoint', async () => {
    for (const role of ['developer', 'tester', 'readonly'])
      expect((await call({}, await memberOf(role))).error).toMatch(
        /^not permitted: requires project role maintainer/,
      )
    const other = await seedProject(gateway.service.sql, 'elsewhere')
    expect((await call({}, await memberOf('owner', other))).error).toBe('endpoint not found')
    const foreign = await seedEndpoint(gateway.service.sql, other)
    expect((await call({}, maintainer, foreign)).error).toBe('endpoint not found')
    expect((await call({}, maintainer, randomUUID())).error).toBe('endpoint not found')
  })

  test('[esb.test-call-refused] the machine user is one of the same project, enabled, with enabled access', async () => {
    const { sql } = gateway.service
    const other = await seedProject(sql, 'foreign')
    const foreign = await seedMachineUser(sql, other)
    for (const machineUserId of [foreign.id, randomUUID(), 'x'])
      for (const by of [maintainer, gateway.admin])
        expect((await call({ machineUserId }, by)).error).toBe('machine user not found')
    const machine = await seedMachineUser(sql, gateway.project)
    const without = await call({ machineUserId: machine.id })
    expectRefused(without, 'conflict')
    expect(without.error).toMatch(/^the machine user has no enabled access to this endpoint; grant it/)
    const accessId = await seedEndpointAccess(sql, {
      projectId: gateway.project.id,
      endpointId: target.id,
      machineUserId: machine.id,
    })
    await sql.query('update machine_user2endpoints set enabled = false where id = $1', [accessId])
    expect((await call({ machineUserId: machine.id })).error).toBe(without.error)
    await sql.query('update machine_user2endpoints set enabled = true where id = $1', [accessId])
    await sql.query('update machine_users set enabled = false where id = $1', [machine.id])
    const disabled = await call({ machineUserId: machine.id })
    expectRefused(disabled, 'conflict')
    expect(disabled.error).toMatch(/^the machine user is disabled; enable it/)
  })

  test('a disabled endpoint is not called', async () => {
    const { id } = await gateway.endpoint({ url: gateway.upstream.url, enabled: false })
    const answer = await call({}, maintainer, id)
    expectRefused(answer, 'conflict')
    expect(answer.error).toMatch(/^the endpoint is disabled; enable it with updateEndpoint/)
  })

  test('a role or an access row that is lost while the request waits stops the call', async () => {
    const { url } = gateway.service.database
    const person = await memberOf('maintainer')
    const withoutRole = await whileLocked(
      url,
      ['delete from user2projects where user_id = $1', [person.id]],
      async (commit) => {
        const answer = call({}, person)
        await waitForLockWait(gateway.service.sql)
        await commit()
        return answer
      },
    )
    expect(withoutRole.error).toMatch(/^not permitted/)
    const withoutAccess = await whileLocked(
      url,
      ['update machine_user2endpoints set enabled = false where id = $1', [target.accessId]],
      async (commit) => {
        const answer = call()
        await waitForLockWait(gateway.service.sql)
        await commit()
        return answer
      },
    )
    expectRefused(withoutAccess, 'conflict')
    expect(withoutAccess.error).toMatch(/has just changed; try again$/)
    await gateway.access.change(gateway.admin, target.accessId, { enabled: true })
  })
})

describe('a change of the endpoint', () => {
  test.each([
    ['the URL', `url = 'https://elsewhere.example/'`],
    ['the credentials', `auth_type = 'Basic', auth_username = 'new'`],
  ])('[esb.test-call-refused] %s that was read before the change is not used', async (_what, set) => {
    const { id } = await gateway.endpoint({ url: gateway.upstream.url })
    const answer = await whileLocked(
      gateway.service.database.url,
      [`update endpoints set ${set}, updated_at = now() where id = $1`, [id]],
      async (commit) => {
        const waiting = call({}, maintainer, id)
        await waitForLockWait(gateway.service.sql)
        await commit()
        return waiting
      },
    )
    expectRefused(answer, 'conflict')
    expect(answer.error).toMatch(/has just changed; try again$/)
  })
})

describe('the input', () => {
  test('[esb.test-call-refused] headers that the gateway does not forward are refused by name', async () => {
    for (const name of [
      'Authorization',
      'authorization',
      'Proxy-Authorization',
      'Cookie',
      'X-Proxy-Auth',
      'X_Proxy_Auth',
      'X-Token-Subject',
      'X-Token-Email',
      'X-User-Id',
      'X-Tenant-Id',
      'X-Forwarded-For',
      'X-Request-Id',
      'X-SVC-Hops',
      'OIDC-Claim',
      'traceparent',
      'Host',
      'Content-Length',
      'Transfer-Encoding',
      'Connection',
      'Upgrade',
    ]) {
      const answer = await call({ headers: [{ name, value: '1' }] })
      expectRefused(answer, 'bad_request')
      expect(answer.error).toBe(
        `headers must not contain ${name}: the gateway does not forward it; remove it`,
      )
    }
  })

  test('headers that would inject others, or too many, are refused, and the error does not repeat the value', async () => {
    for (const [name, value] of [
      ['X-A', 's3cret\r\nAuthorization: Bearer x'],
      ['X-A', 's3cret\nX-B: 1'],
      ['X-A', 's3cret\0'],
      ['X-A', 's3cret\u2028\u{1f600}'],
      ['X-A\r\nX-B', '1'],
      ['X-A: 1', '1'],
      ['', '1'],
      ['X A', '1'],
    ] as const) {
      const answer = await call({ headers: [{ name, value }] })
      expectRefused(answer, 'bad_request')
      expect(answer.error).toMatch(/^headers\[0\]\.(name|value) /)
      expect(answer.error).not.toContain('s3cret')
    }
    const many = Array.from({ length: 51 }, (_, index) => ({ name: `X-${index}`, value: '' }))
    expectRefused(await call({ headers: many }), 'bad_request')
    expectRefused(await call({ headers: [{ name: 'X-A', value: 'v'.repeat(16_384) }] }), 'bad_request')
  })

  test('other methods and queries are refused', async () => {
    for (const method of ['CONNECT', 'TRACE', 'get', '', 'GET /', 'GET\r\n'])
      expectRefused(await call({ method }), 'bad_request')
    for (const query of ['a b', 'a#b', 'a\r\nb', 'ä', 'a\0', 'q'.repeat(2_001)])
      expectRefused(await call({ query }), 'bad_request')
  })

  test('a body has at most 256 KiB', async () => {
    for (const body of ['x'.repeat(262_145), 'ä'.repeat(131_073)]) {
      const answer = await call({ method: 'POST', body })
      expectRefused(answer, 'payload_too_large')
      expect(answer.error).toBe('body must have at most 262144 bytes')
    }
    expectRefused(await call({ body: '\ud800' }), 'bad_request')
  })
})
