// Tests trigger callbacks: each attempt is a trace, and the backend receives its context.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TriggerScene, startTriggerScene } from '../kit/callbacks.ts'
import { type Collector, startCollector } from '../kit/collector.ts'

let collector: Collector
let scene: TriggerScene
beforeAll(async () => {
  collector = await startCollector()
  scene = await startTriggerScene({
    env: { SVC_TRACING_OTLP_ENDPOINT: collector.url, SVC_TRACING_SAMPLE_RATIO: '1' },
  })
})
afterAll(async () => {
  await scene.close()
  await collector.close()
})

const attempts = () => collector.spans.filter(({ name }) => name === 'trigger attempt')

test('an attempt and the call it makes are in one trace, which the backend gets as traceparent', async () => {
  const { id: registration } = await scene.register()
  const trigger = await scene.createTrigger()
  await scene.makeDue(trigger.id)
  await scene.plan()
  scene.backend.answer((_request, response) => void response.writeHead(503).end())
  await scene.deliver()
  await expect.poll(attempts, { timeout: 20_000 }).toHaveLength(1)
  const [run] = await scene.runsOf(trigger.id)
  const [attempt] = attempts()
  expect(attempt).toMatchObject({
    kind: 'INTERNAL',
    status: { code: 2 },
    attributes: {
      'manager.trigger.id': trigger.id,
      'manager.trigger_run.id': run?.id,
      'manager.trigger_run.attempt': 1,
      'http.response.status_code': 503,
    },
  })
  expect(attempt?.parentSpanId ?? '').toBe('')
  const call = collector.ofTrace(attempt?.traceId ?? '').find(({ name }) => name === 'POST')
  expect(call).toMatchObject({
    kind: 'CLIENT',
    parentSpanId: attempt?.spanId,
    attributes: { 'manager.backend_registration.id': registration, 'error.type': '503' },
  })
  expect(scene.backend.received.at(-1)?.headers['traceparent']).toBe(
    `00-${attempt?.traceId}-${call?.spanId}-01`,
  )
  scene.backend.reset()
  await scene.skipWaits()
  await scene.deliver()
  await expect.poll(attempts, { timeout: 20_000 }).toHaveLength(2)
  expect(attempts()[1]).toMatchObject({
    attributes: { 'manager.trigger_run.id': run?.id, 'manager.trigger_run.attempt': 2 },
  })
  expect(attempts()[1]?.traceId).not.toBe(attempt?.traceId)
})

test('without tracing a callback has no traceparent', async () => {
  const plain = await startTriggerScene()
  await plain.register()
  const trigger = await plain.createTrigger()
  await plain.makeDue(trigger.id)
  await plain.plan()
  await plain.deliver()
  expect(plain.backend.received).toHaveLength(1)
  expect(plain.backend.received[0]?.headers).not.toHaveProperty('traceparent')
  await plain.close()
})
