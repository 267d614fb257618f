// Tests that a collector that hangs, rejects spans or is unreachable does not affect requests. Memory use is bounded,
// and a shutdown finishes in time.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { type Person, headersOf } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { callersTrace, startCollector } from '../kit/collector.ts'
import { createScratchDatabase } from '../kit/databases.ts'
import { startProcess } from '@manager/harness/process.ts'
import { seedUser } from '@manager/harness/seed.ts'

const somebody = { id: randomUUID(), email: 'somebody@example.org', name: 'Somebody' }

const spansCounted = async ({ world }: TestApp): Promise<Record<string, number>> => {
  const metric = world.metrics.registry.getSingleMetric('svc_trace_spans_total')
  const values = (await metric?.get())?.values ?? []
  return Object.fromEntries(values.map(({ labels, value }) => [String(labels['outcome']), value]))
}

/** Sends requests with one span each and returns their statuses. */
async function send(url: string, person: Person, count: number): Promise<number[]> {
  const one = async () => {
    const headers = { ...headersOf(person), traceparent: callersTrace().traceparent }
    return (await fetch(`${url}/query`, { method: 'POST', headers })).status
  }
  const statuses: number[] = []
  for (let sent = 0; sent < count; sent += 20)
    statuses.push(...(await Promise.all(Array.from({ length: 20 }, one))))
  return statuses
}

// Most of the time is spent waiting for timeouts, so the tests run concurrently.
test.concurrent(
  'a collector that hangs costs no request, and no more memory than the queue has',
  async ({ onTestFinished }) => {
    const collector = await startCollector()
    collector.refuse('hang')
    const env = {
      SVC_TRACING_OTLP_ENDPOINT: collector.url,
      SVC_TRACING_MAX_QUEUED_SPANS: '64',
      SVC_TRACING_EXPORT_TIMEOUT_MS: '60000',
    }
    const service = await startTestApp({ env })
    onTestFinished(async () => {
      await service.close()
      await collector.close()
    })
    const person = await seedUser(service.sql, 'caller')
    expect(new Set(await send(service.url, person, 200))).toEqual(new Set([400]))
    // No span was exported: all spans that were not dropped are in the queue or in the hanging request.
    const { dropped = 0, exported, failed } = await spansCounted(service)
    expect({ exported, failed }).toEqual({ exported: 0, failed: 0 })
    expect(dropped).toBeGreaterThanOrEqual(200 - 64)
    expect(collector.spans.length).toBeLessThanOrEqual(64)
  },
)

test.concurrent(
  'a collector that refuses or is away is logged once, and again when it is back',
  async ({ expect, onTestFinished }) => {
    const collector = await startCollector()
    collector.refuse(400)
    const service = await startTestApp({ env: { SVC_TRACING_OTLP_ENDPOINT: collector.url } })
    onTestFinished(async () => {
      await service.close()
      await collector.close()
    })
    const person = await seedUser(service.sql, 'caller')
    const linesAbout = () =>
      service.logLines.map(({ msg }) => msg).filter((msg) => String(msg).includes('trace collector'))
    for (const least of [1, 2]) {
      await send(service.url, person, 20)
      await expect.poll(() => collector.bodies.length, { timeout: 20_000 }).toBeGreaterThanOrEqual(least)
      await expect
        .poll(async () => (await spansCounted(service))['failed'], { timeout: 20_000 })
        .toBeGreaterThan(0)
    }
    expect(linesAbout()).toEqual([
      'the trace collector does not accept spans; they are dropped until it recovers',
    ])
    collector.refuse(200)
    await send(service.url, person, 20)
    await expect.poll(linesAbout, { timeout: 20_000 }).toHaveLength(2)
    expect(linesAbout()[1]).toBe('the trace collector accepts spans again')
  },
)

test.concurrent('SIGTERM exports what has ended', async () => {
  const [collector, database] = await Promise.all([startCollector(), createScratchDatabase()])
  const env = { SVC_SHUTDOWN_DRAIN_DELAY_MS: '0', SVC_TRACING_OTLP_ENDPOINT: collector.url }
  const { child, url, exit } = await startProcess(database.url, env)
  expect(new Set(await send(url, somebody, 20))).toEqual(new Set([400]))
  child.kill('SIGTERM')
  expect(await exit).toBe(0)
  expect(collector.spans.filter(({ kind }) => kind === 'SERVER')).toHaveLength(20)
  await collector.close()
  await database.drop()
})

test.concurrent('SIGTERM ends within its time when the collector hangs', async () => {
  const [collector, database] = await Promise.all([startCollector(), createScratchDatabase()])
  collector.refuse('hang')
  const env = {
    SVC_SHUTDOWN_DRAIN_DELAY_MS: '0',
    SVC_SHUTDOWN_TIMEOUT_MS: '20000',
    SVC_TRACING_OTLP_ENDPOINT: collector.url,
    SVC_TRACING_EXPORT_TIMEOUT_MS: '60000',
  }
  const { child, url, exit, lines } = await startProcess(database.url, env)
  expect(new Set(await send(url, somebody, 20))).toEqual(new Set([400]))
  child.kill('SIGTERM')
  // Exit code 1 would mean that the shutdown timed out.
  expect(await exit).toBe(0)
  expect(lines.at(-1)).toContain('"stopped"')
  await collector.close()
  await database.drop()
})
