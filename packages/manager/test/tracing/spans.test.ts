// Tests the spans that the collector receives, and the trace context that other services receive.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Collector, callersTrace, startCollector } from '../kit/collector.ts'
import { type Gateway, startGateway } from '../kit/gateway.ts'
import { headersOf } from '@manager/harness/callers.ts'
import { postQuery } from '@manager/harness/graphql.ts'

let collector: Collector
let gateway: Gateway
beforeAll(async () => {
  collector = await startCollector()
  gateway = await startGateway({
    env: {
      SVC_TRACING_OTLP_ENDPOINT: `${collector.url}/`,
      SVC_TRACING_OTLP_AUTHORIZATION: 'Bearer of-the-collector',
      SVC_TRACING_SERVICE_NAME: 'manager-test',
      SVC_TRACING_SAMPLE_RATIO: '0',
    },
  })
})
afterAll(async () => {
  await gateway.close()
  await collector.close()
})

const serverSpanOf = (traceId: string) => collector.ofTrace(traceId).find(({ kind }) => kind === 'SERVER')
const exported = (traceId: string) => vi.waitUntil(() => serverSpanOf(traceId), { timeout: 30_000 })

test('an ESB call: the span of the request is below the caller, the call of the partner below it, and the partner learns it', async () => {
  const { id, path } = await gateway.endpoint({ url: `${gateway.upstream.url}/orders` })
  const { traceId, spanId, traceparent } = callersTrace()
  gateway.upstream.reset()
  const { status } = await gateway.send(`${path}?customer=4711`, {
    method: 'POST',
    body: '{}',
    headers: [
      ['content-type', 'application/json'],
      ['traceparent', traceparent],
      ['tracestate', 'congo=t61'],
    ],
  })
  expect(status).toBe(200)
  await exported(traceId)
  const server = serverSpanOf(traceId)
  expect(server).toMatchObject({
    name: 'POST /esb/*',
    parentSpanId: spanId,
    attributes: { 'http.request.method': 'POST', 'http.route': '/esb/*', 'http.response.status_code': 200 },
  })
  const call = collector.ofTrace(traceId).find(({ name }) => name === 'POST')
  expect(call).toMatchObject({
    kind: 'CLIENT',
    parentSpanId: server?.spanId,
    attributes: {
      'http.request.method': 'POST',
      'server.address': '127.0.0.1',
      'server.port': gateway.upstream.port,
      'http.response.status_code': 200,
      'manager.endpoint.id': id,
    },
  })
  expect(gateway.upstream.received[0]?.headers).toMatchObject({
    traceparent: `00-${traceId}-${call?.spanId}-01`,
    tracestate: 'congo=t61',
  })
  const statements = collector.ofTrace(traceId).filter(({ attributes }) => 'db.system.name' in attributes)
  expect(statements.length).toBeGreaterThan(0)
  expect(statements.map(({ parentSpanId }) => parentSpanId)).toEqual(statements.map(() => server?.spanId))
  expect(collector.resources[0]).toMatchObject({ 'service.name': 'manager-test' })
  expect(collector.authorizations[0]).toBe('Bearer of-the-collector')
})

test('a partner that fails is an error of the call, and a 502 one of the request', async () => {
  const { path } = await gateway.endpoint({ url: `${gateway.upstream.url}/broken` })
  gateway.upstream.answer((request) => request.socket.destroy())
  const { traceId, traceparent } = callersTrace()
  expect((await gateway.send(path, { headers: [['traceparent', traceparent]] })).status).toBe(502)
  await exported(traceId)
  expect(serverSpanOf(traceId)).toMatchObject({ status: { code: 2 }, attributes: { 'error.type': '502' } })
  expect(collector.ofTrace(traceId).find(({ name }) => name === 'GET')).toMatchObject({
    status: { code: 2, message: expect.any(String) },
    attributes: { 'error.type': 'failed' },
  })
  gateway.upstream.reset()
})

test('a change: its statements are in the trace, and the trace id is in the log and in the audit trail', async () => {
  const { service, admin, project } = gateway
  const { traceId, traceparent } = callersTrace()
  const text = `mutation($id: ID!) { createTenant(projectId: $id, input: {name: "traced", slug: "traced"}) { id } }`
  const answer = await postQuery(service.url, { ...headersOf(admin), traceparent }, text, {
    id: project.id,
  })
  expect(answer.error).toBeNull()
  await exported(traceId)
  expect(serverSpanOf(traceId)?.name).toBe('POST /query')
  const inserts = collector.ofTrace(traceId).map(({ attributes }) => attributes['db.query.summary'])
  expect(inserts).toContain('INSERT tenants')
  expect(service.logLines.filter((line) => line['trace_id'] === traceId)).toMatchObject([
    { route: '/query', msg: 'request' },
  ])
  const { rows } = await service.sql.query(
    `select metadata from audit_logs where metadata->>'traceId' = $1`,
    [traceId],
  )
  expect(rows).toHaveLength(1)
})

test('who is not sampled is not exported, and partners are told so', async () => {
  const { path } = await gateway.endpoint({ url: `${gateway.upstream.url}/silent` })
  const { traceId, traceparent } = callersTrace('00')
  gateway.upstream.reset()
  await gateway.send(path, { headers: [['traceparent', traceparent]] })
  await gateway.send(path)
  const sampled = callersTrace()
  await gateway.send(path, { headers: [['traceparent', sampled.traceparent]] })
  await exported(sampled.traceId)
  const [first, second] = gateway.upstream.received.map(({ headers }) => headers['traceparent'])
  expect(first).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`))
  // A trace that starts here is sampled at the configured ratio, which is 0.
  expect(second).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/)
  const known = new Set(collector.spans.map((span) => span.traceId))
  expect(known.has(traceId)).toBe(false)
  expect(known.has((second as string).slice(3, 35))).toBe(false)
})

test('a malformed traceparent begins a trace, and is nowhere to be seen', async () => {
  const { path } = await gateway.endpoint({ url: `${gateway.upstream.url}/malformed` })
  gateway.upstream.reset()
  const malformed = '00-PLANTEDplantedPLANTEDplantedPLANT-00f067aa0ba902b7-01'
  const answer = await gateway.send(path, {
    headers: [
      ['traceparent', malformed],
      ['tracestate', 'planted=1'],
    ],
  })
  const { headers } = gateway.upstream.received[0] ?? {}
  expect(headers?.['traceparent']).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/)
  expect(headers).not.toHaveProperty('tracestate')
  expect(JSON.stringify([answer.rawHeaders, answer.text, gateway.service.logLines])).not.toMatch(/planted/i)
})

test('who is refused at the gate is not exported: anyone could fill the collector', async () => {
  const { service, admin } = gateway
  const refused = callersTrace()
  const { status } = await fetch(`${service.url}/query`, {
    method: 'POST',
    headers: { traceparent: refused.traceparent, 'x-proxy-auth': 'wrong' },
  })
  expect(status).toBe(401)
  const next = callersTrace()
  await postQuery(service.url, { ...headersOf(admin), traceparent: next.traceparent }, '{ __typename }')
  await exported(next.traceId)
  expect(collector.ofTrace(refused.traceId)).toEqual([])
})

test('callers who are nobody are not exported, nor the statements that looked for them', async () => {
  const { service, admin } = gateway
  const paths = ['/health', '/api/machine/check', '/esb/nothing', '/api/machine/nothing', '/no/such/address']
  const strangers = paths.map((path) => ({ path, ...callersTrace() }))
  for (const { path, traceparent } of strangers)
    await fetch(`${service.url}${path}`, {
      headers: { traceparent, authorization: `Bearer ${randomBytes(32).toString('base64url')}` },
    })
  const next = callersTrace()
  await postQuery(service.url, { ...headersOf(admin), traceparent: next.traceparent }, '{ __typename }')
  await exported(next.traceId)
  for (const { traceId } of strangers) expect(collector.ofTrace(traceId)).toEqual([])
})

test('an unknown address has no route of its own, and an unusual method no name of its own', async () => {
  const [unknown, unusual] = [callersTrace(), callersTrace()]
  const { status } = await fetch(`${gateway.service.url}/no/such/4711`, {
    headers: { ...headersOf(gateway.admin), traceparent: unknown.traceparent },
  })
  expect(status).toBe(404)
  const { path } = await gateway.endpoint({ url: `${gateway.upstream.url}/unusual` })
  await gateway.send(path, { method: 'PROPFIND', headers: [['traceparent', unusual.traceparent]] })
  await exported(unusual.traceId)
  expect(serverSpanOf(unknown.traceId)?.name).toBe('GET unknown')
  expect(serverSpanOf(unusual.traceId)).toMatchObject({
    name: 'HTTP /esb/*',
    attributes: { 'http.request.method': '_OTHER' },
  })
})
