// Tests that spans, which leave the service, contain no secrets. The test searches every byte that the collector
// receives.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { headersOf, proxySecret } from '@manager/harness/callers.ts'
import { type Collector, callersTrace, startCollector } from '../kit/collector.ts'
import { type Gateway, startGateway } from '../kit/gateway.ts'
import { postQuery } from '@manager/harness/graphql.ts'
import { seedUser } from '@manager/harness/seed.ts'

let collector: Collector
let gateway: Gateway
beforeAll(async () => {
  collector = await startCollector()
  gateway = await startGateway({
    env: {
      SVC_TRACING_OTLP_ENDPOINT: collector.url,
      SVC_TRACING_OTLP_AUTHORIZATION: 'Bearer PLANTED-collector',
      SVC_TRACING_SAMPLE_RATIO: '1',
    },
  })
})
afterAll(async () => {
  await gateway.close()
  await collector.close()
})

const email = 'PLANTED-email@example.org'

/** Makes calls with planted markers in every field that a caller controls, and returns additional secrets. */
async function callWithSecrets(): Promise<string[]> {
  const { service, upstream, admin, project } = gateway
  const person = { ...(await seedUser(service.sql, 'PLANTED-subject', 'administrator')), email }
  const { path } = await gateway.endpoint({
    url: `${upstream.url}/PLANTED-upstream-path?key=PLANTED-upstream-query`,
    authType: 'Bearer',
    authToken: 'PLANTED-upstream-token',
  })
  upstream.answer((_request, response) => {
    response.writeHead(200, { 'set-cookie': 'PLANTED-set-cookie', 'content-type': 'text/plain' })
    response.end('PLANTED-response-body')
  })
  const planted: [string, string][] = [
    ['cookie', 'PLANTED-cookie'],
    ['x-planted', 'PLANTED-header'],
    ['user-agent', 'PLANTED-agent'],
    ['x-forwarded-for', '203.0.113.77'],
    ['baggage', 'user=PLANTED-baggage'],
    ['tracestate', 'planted=PLANTED-state'],
    ['traceparent', callersTrace().traceparent],
  ]
  const body = 'PLANTED-request-body'
  const called = await gateway.send(`${path}?q=PLANTED-query`, { method: 'POST', body, headers: planted })
  expect(called.status).toBe(200)
  upstream.answer((request) => request.socket.destroy())
  expect((await gateway.send(`${path}?q=PLANTED-query`, { headers: planted })).status).toBe(502)
  const headers = { ...headersOf(person), ...Object.fromEntries(planted) }
  const created = await postQuery(
    service.url,
    headers,
    `mutation PLANTEDoperation($id: ID!) {
      createTenant(projectId: $id, input: {name: "PLANTED-literal", slug: "planted-sql-value"}) { id } }`,
    { id: project.id },
  )
  expect(created.error).toBeNull()
  await postQuery(service.url, headers, '{ PLANTED_unknown_field }')
  await fetch(`${service.url}/PLANTED-path/${admin.id}`, { headers })
  return [gateway.machine.token, proxySecret, '203.0.113.77', admin.id, project.id, project.applicationId]
}

test('no span holds a header, a path, a query, a body, a value of SQL, an e-mail address or a credential', async () => {
  const secrets = await callWithSecrets()
  const last = callersTrace()
  await postQuery(
    gateway.service.url,
    { ...headersOf(gateway.admin), traceparent: last.traceparent },
    '{ __typename }',
  )
  await expect.poll(() => collector.ofTrace(last.traceId).length, { timeout: 20_000 }).toBeGreaterThan(0)
  const names = new Set(collector.spans.map(({ name }) => name))
  // Check that the spans of the calls above exist. Otherwise, the test would search empty output.
  expect([...names]).toEqual(
    expect.arrayContaining(['POST /esb/*', 'GET /esb/*', 'POST', 'GET', 'POST /query', 'GET unknown']),
  )
  expect([...names]).toContain('INSERT tenants')
  const everything = collector.bodies.join('\n')
  expect(everything).not.toMatch(/planted/i)
  expect(secrets.filter((secret) => everything.includes(secret))).toEqual([])
})

test('every attribute is one of those that are documented', () => {
  const known = new Set([
    'http.request.method',
    'http.route',
    'http.response.status_code',
    'error.type',
    'server.address',
    'server.port',
    'manager.request_id',
    'manager.endpoint.id',
    'db.system.name',
    'db.operation.name',
    'db.query.summary',
    'db.collection.name',
  ])
  const used = new Set(collector.spans.flatMap(({ attributes }) => Object.keys(attributes)))
  expect([...used].filter((name) => !known.has(name))).toEqual([])
  expect(used.size).toBeGreaterThan(8)
})
