// These tests cover test calls to endpoints: what the partner receives, what the person receives, and what is
// recorded.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { seedMachineUser, seedMember, seedProject, seedUser } from '@manager/harness/seed.ts'
import { startTestApp } from '../../../test/kit/app.ts'
import { seedEndpoint, seedEndpointAccess } from '../../../test/kit/endpoints.ts'
import { type Gateway, startGateway } from '../../../test/kit/gateway.ts'
import { codeOf } from '../../../test/kit/members.ts'
import { type TestCallInput, testEndpoint } from '../../../test/kit/test-calls.ts'

let gateway: Gateway
let maintainer: Person
beforeAll(async () => {
  gateway = await startGateway({
    env: { SVC_ESB_TEST_CALLS_PER_MINUTE: '10000', SVC_ESB_FORWARD_TIMEOUT: '2s' },
  })
  maintainer = await seedUser(gateway.service.sql, 'maintainer')
  await seedMember(gateway.service.sql, maintainer, 'maintainer', { projectId: gateway.project.id })
})
afterAll(() => gateway.close())
beforeEach(() => gateway.upstream.reset())

const call = (endpointId: string, input: Partial<TestCallInput> = {}, by = maintainer) =>
  testEndpoint(gateway.service, by, endpointId, { machineUserId: gateway.machine.id, ...input })
const endpoint = (input: Record<string, unknown> = {}) =>
  gateway.endpoint({ url: `${gateway.upstream.url}/target?k=v`, ...input })
const auditOf = async (id: string) =>
  (
    await gateway.service.sql.query(
      `select action, entity_type, user_id, changes, audit_logs::text as everything from audit_logs
       where entity_id = $1 and action = 'test' order by seq`,
      [id],
    )
  ).rows

describe('the partner', () => {
  test('[esb.test-call] receives the request as from the machine user, with the stored credentials and the request id', async () => {
    const { id } = await endpoint({ authType: 'Bearer', authToken: 'partner-token' })
    const { data, error } = await call(id, {
      method: 'PUT',
      query: 'a=1&b=%20',
      headers: [
        { name: 'Content-Type', value: 'application/json' },
        { name: 'X-Custom', value: 'one' },
      ],
      body: '{"name":"Ada ä"}',
    })
    expect(error).toBeNull()
    expect(gateway.upstream.received).toHaveLength(1)
    const [request] = gateway.upstream.received
    expect(request).toMatchObject({ method: 'PUT', url: '/target?k=v&a=1&b=%20' })
    expect(String(request?.body)).toBe('{"name":"Ada ä"}')
    expect(request?.headers).toMatchObject({
      authorization: 'Bearer partner-token',
      'content-type': 'application/json',
      'content-length': '17',
      'x-custom': 'one',
      'x-request-id': data.call.requestId,
      'x-svc-hops': '1',
    })
    expect(request?.headers).not.toHaveProperty('cookie')
    expect(Object.keys(request?.headers ?? {}).filter((name) => name.startsWith('x-token'))).toEqual([])
  })

  test('receives a body of 256 KiB', async () => {
    const { id } = await endpoint()
    expect((await call(id, { method: 'POST', body: 'x'.repeat(262_144) })).data.call.responseStatus).toBe(200)
    expect(gateway.upstream.received[0]?.body).toHaveLength(262_144)
  })

  test('receives the rendered template', async () => {
    const { id } = await endpoint({
      inputMessageType: 'JSON',
      outputMessageType: 'JSON',
      transformationTemplate: '{"reference":"{{.Data.id}}"}',
    })
    const { data } = await call(id, { method: 'POST', body: '{"id":"o-1"}' })
    expect(data.call).toMatchObject({ responseStatus: 200, transformationApplied: true, failure: null })
    expect(String(gateway.upstream.received[0]?.body)).toBe('{"reference":"o-1"}')
  })
})

describe('the person', () => {
  test('receives status, duration, and redacted headers and body at every log level', async () => {
    gateway.upstream.answer((_request, response) => {
      response.writeHead(201, { 'content-type': 'application/json', 'set-cookie': 'sid=s-1', 'x-kept': 'k' })
      response.end('{"id":"o-1","password":"p-1"}')
    })
    for (const logLevel of ['NONE', 'BASIC', 'FULL']) {
      const { id } = await endpoint({ logLevel })
      const { data } = await call(id, { method: 'POST', body: '{"pin":"1234","text":"t"}' })
      expect([logLevel, data.call]).toEqual([
        logLevel,
        {
          requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
          responseStatus: 201,
          durationMs: expect.any(Number),
          transformationApplied: false,
          responseHeaders: expect.arrayContaining([
            { name: 'set-cookie', value: '[REDACTED]' },
            { name: 'x-kept', value: 'k' },
          ]),
          responseBody: '{"id":"o-1","password":"[REDACTED]"}',
          failure: null,
        },
      ])
      const logged = await gateway.logged(id)
      expect(logged).toMatchObject([
        {
          is_test: true,
          request_id: data.call.requestId,
          machine_user_id: gateway.machine.id,
          method: 'POST',
          response_status: 201,
          duration_ms: data.call.durationMs,
          failure: null,
        },
      ])
      expect([logLevel, logged[0]?.response_body]).toEqual([
        logLevel,
        logLevel === 'FULL' ? data.call.responseBody : null,
      ])
      expect(logged[0]?.request_headers === null).toBe(logLevel !== 'FULL')
    }
  })

  test('receives a binary body as its length, and the first 64 KiB of a large one', async () => {
    const { id } = await endpoint()
    gateway.upstream.answer((_request, response) => response.end(Buffer.from([0, 255, 254, 1])))
    expect((await call(id)).data.call.responseBody).toBe('[binary, 4 bytes]')
    const large = JSON.stringify(Array.from({ length: 3_000 }, () => 'x'.repeat(100)))
    gateway.upstream.answer((_request, response) => response.end(large))
    const { data } = await call(id)
    expect(data.call.responseBody).toMatch(`[truncated: 65536 of ${large.length} bytes]`)
    expect((data.call.responseBody as string).length).toBeLessThan(70_000)
    expect((await call(id, { method: 'HEAD' })).data.call).toMatchObject({
      responseStatus: 200,
      responseBody: '',
    })
  })

  test('receives the reason if the partner cannot be called, and the log has the row', async () => {
    const cases: [Record<string, unknown>, Partial<TestCallInput>, number, string][] = [
      [{ url: null }, {}, 502, 'the endpoint has no url to forward to'],
      [{ url: 'http://127.0.0.1:1/' }, {}, 502, 'the upstream refuses connections'],
      [
        { url: 'http://169.254.169.254/latest/meta-data' },
        {},
        502,
        'the address of the upstream is not allowed',
      ],
      [{ url: 'http://[fe80::1]/' }, {}, 502, 'the address of the upstream is not allowed'],
      [
        { inputMessageType: 'JSON', transformationTemplate: '{{.Data.a}}' },
        { method: 'POST', body: '{' },
        400,
        'the body is not JSON',
      ],
    ]
    for (const [input, sent, status, failure] of cases) {
      const { id } = await endpoint(input)
      const { data, error } = await call(id, sent)
      expect(error).toBeNull()
      expect(data.call).toMatchObject({
        responseStatus: status,
        failure: expect.stringContaining(failure),
        responseHeaders: null,
        responseBody: null,
      })
      expect(await gateway.logged(id)).toMatchObject([
        { is_test: true, response_status: status, failure: data.call.failure },
      ])
      expect(await auditOf(id)).toHaveLength(1)
    }
    expect(gateway.upstream.received).toEqual([])
  })

  test('waits no longer than the forward timeout', async () => {
    const { id } = await endpoint()
    gateway.upstream.answer(() => undefined)
    const { data } = await call(id)
    expect(data.call).toMatchObject({ responseStatus: 502, failure: 'the upstream timed out' })
  })
})

describe('the records', () => {
  test('[esb.test-call-records] are committed before the request leaves, and no transaction is open meanwhile', async () => {
    const { id } = await endpoint()
    const seen: unknown[] = []
    gateway.upstream.answer((_request, response) => {
      const look = async () => {
        const { rows } = await gateway.service.sql.query(
          `select (select count(*)::int from audit_logs where entity_id = $1::uuid::text and action = 'test') as audited,
             (select count(*)::int from esb_audit_logs where endpoint_id = $1 and is_test and duration_ms is null) as started,
             (select count(*)::int from pg_stat_activity
              where datname = current_database() and state like 'idle in transaction%') as open`,
          [id],
        )
        seen.push(rows[0])
        response.end('ok')
      }
      void look()
    })
    expect((await call(id)).error).toBeNull()
    expect(seen).toEqual([{ audited: 1, started: 1, open: 0 }])
    expect(await gateway.logged(id)).toMatchObject([
      { response_status: 200, duration_ms: expect.any(Number) },
    ])
  })

  test('name the person, the machine user and the request, but no content', async () => {
    const { id } = await endpoint({ authType: 'Basic', authUsername: 'u', authPassword: 'stored-s3cret' })
    const { data } = await call(id, {
      method: 'POST',
      query: 'token=query-s3cret',
      headers: [{ name: 'X-Api-Key', value: 'header-s3cret' }],
      body: '{"password":"body-s3cret","name":"private-text"}',
    })
    const rows = await auditOf(id)
    expect(rows).toMatchObject([
      {
        entity_type: 'endpoint',
        action: 'test',
        user_id: maintainer.id,
        changes: {
          machineUserId: { before: null, after: gateway.machine.id },
          requestId: { before: null, after: data.call.requestId },
          method: { before: null, after: 'POST' },
        },
      },
    ])
    const everywhere = JSON.stringify([rows, await gateway.logged(id), gateway.service.logLines])
    expect(everywhere).not.toMatch(/s3cret|private-text/)
  })

  test('[esb.test-call-records] mark the call in the log, and tell it from calls of the machine user', async () => {
    const { id, path } = await endpoint({ name: 'marked' })
    await gateway.send(path)
    const { data } = await call(id)
    const list = async (filter: string) =>
      (
        await gateway.service.query(
          maintainer,
          `{ calls: esbAuditLogs(applicationId: "${gateway.project.applicationId}", endpointId: "${id}"${filter}) {
            requestId test machineUser { id } } }`,
        )
      ).data.calls
    const tested = { requestId: data.call.requestId, test: true, machineUser: { id: gateway.machine.id } }
    const own = { test: false, machineUser: { id: gateway.machine.id } }
    expect(await list('')).toMatchObject([tested, own])
    expect(await list(', filters: [{field: "test", value: "true"}]')).toEqual([tested])
    expect(await list(', filters: [{field: "test", value: "false"}]')).toMatchObject([own])
    expect(await list(`, requestId: "${data.call.requestId}"`)).toEqual([tested])
  })

  test('keep the endpoint and the machine user from being deleted', async () => {
    const { id } = await endpoint({ logLevel: 'NONE' })
    await call(id)
    const { error } = await gateway.service.query(maintainer, `mutation { deleteEndpoint(id: "${id}") }`)
    expect(error).toMatch(/^the endpoint has served 1 logged ESB request and cannot be deleted/)
    const machine = await gateway.service.query(
      maintainer,
      `mutation { deleteMachineUser(id: "${gateway.machine.id}") }`,
    )
    expect(machine.error).toMatch(/logged ESB requests? and cannot be deleted/)
  })
})

test('a project may make 2 test calls a minute; further ones are told how long to wait', async () => {
  const limited = await startTestApp({
    database: gateway.service.database,
    env: { SVC_ESB_TEST_CALLS_PER_MINUTE: '2' },
  })
  try {
    const project = await seedProject(limited.sql, 'limited')
    const endpointId = await seedEndpoint(limited.sql, project)
    const { id: machineUserId } = await seedMachineUser(limited.sql, project)
    await seedEndpointAccess(limited.sql, { projectId: project.id, endpointId, machineUserId })
    const answers = []
    for (const _ of [1, 2, 3])
      answers.push(await testEndpoint(limited, gateway.admin, endpointId, { machineUserId }))
    expect(answers.map((answer) => codeOf(answer) ?? 'ok')).toEqual(['ok', 'ok', 'rate_limited'])
    const waitSeconds = Number(answers[2]?.headers.get('retry-after'))
    expect(waitSeconds).toBeGreaterThanOrEqual(1)
    expect(waitSeconds).toBeLessThanOrEqual(60)
  } finally {
    await limited.close()
  }
})
