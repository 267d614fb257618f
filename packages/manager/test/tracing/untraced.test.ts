// Tests the service without a collector: trace contexts are forwarded unchanged, and no OpenTelemetry module is loaded.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { headersOf } from '@manager/harness/callers.ts'
import { callersTrace, startCollector } from '../kit/collector.ts'
import { type Gateway, startGateway } from '../kit/gateway.ts'
import { postQuery } from '@manager/harness/graphql.ts'
import { startProcess } from '@manager/harness/process.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

test('a valid context passes to the partner as it came, and its trace id is in the log', async () => {
  const { path } = await gateway.endpoint({ url: `${gateway.upstream.url}/orders` })
  const { traceId, traceparent } = callersTrace()
  await gateway.send(path, {
    headers: [
      ['traceparent', traceparent],
      ['tracestate', 'congo=t61'],
    ],
  })
  expect(gateway.upstream.received[0]?.headers).toMatchObject({ traceparent, tracestate: 'congo=t61' })
  await expect
    .poll(() => gateway.service.logLines.filter((line) => line['trace_id'] === traceId))
    .toMatchObject([{ route: '/esb/*' }])
})

test.each([
  ['malformed', [['traceparent', '00-planted']]],
  ['sent twice', [callersTrace(), callersTrace()].map(({ traceparent }) => ['traceparent', traceparent])],
  ['missing', []],
] as [string, [string, string][]][])(
  'one that is %s does not pass, nor does its tracestate',
  async (_what, headers) => {
    const { path } = await gateway.endpoint({ url: `${gateway.upstream.url}/orders` })
    gateway.upstream.reset()
    await gateway.send(path, { headers: [...headers, ['tracestate', 'planted=1']] })
    expect(gateway.upstream.received).toHaveLength(1)
    expect(gateway.upstream.received[0]?.rawHeaders.join()).not.toMatch(/traceparent|tracestate|planted/i)
  },
)

test('the audit row of a change has the trace id of its request, and none without', async () => {
  const { service, admin, project } = gateway
  const { traceId, traceparent } = callersTrace()
  const create = (slug: string, headers: Record<string, string>) =>
    postQuery(
      service.url,
      { ...headersOf(admin), ...headers },
      `mutation($id: ID!, $slug: String!) { createTenant(projectId: $id, input: {name: $slug, slug: $slug}) { id } }`,
      { id: project.id, slug },
    )
  expect((await create('traced', { traceparent })).error).toBeNull()
  expect((await create('untraced', {})).error).toBeNull()
  const { rows } = await service.sql.query<{ metadata: object }>(
    `select metadata from audit_logs where entity_type = 'tenant' and action = 'create' order by seq desc limit 2`,
  )
  expect(rows.map(({ metadata }) => metadata)).toEqual([{}, { traceId }])
})

test('no module of OpenTelemetry is loaded unless there is a collector', async () => {
  const program = new URL('../planted/listed-modules.ts', import.meta.url).pathname
  const collector = await startCollector()
  const loaded = async (env: Record<string, string>): Promise<number> => {
    const started = await startProcess(
      gateway.service.database.url,
      { SVC_SHUTDOWN_DRAIN_DELAY_MS: '0', ...env },
      { program },
    )
    started.child.kill('SIGTERM')
    expect(await started.exit).toBe(0)
    const modules = started.lines.filter((line) => line.startsWith('loaded '))
    expect(modules.some((line) => line.includes('fastify'))).toBe(true)
    // prom-client loads the OpenTelemetry API package for exemplars. It contains only interfaces and no-op functions.
    return modules.filter(
      (line) => line.includes('/@opentelemetry/') && !line.includes('/@opentelemetry/api/'),
    ).length
  }
  const [without, withCollector] = await Promise.all([
    loaded({}),
    loaded({ SVC_TRACING_OTLP_ENDPOINT: collector.url }),
  ])
  expect(without).toBe(0)
  expect(withCollector).toBeGreaterThan(0)
  await collector.close()
})
