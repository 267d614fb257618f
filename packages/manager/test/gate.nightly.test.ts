// Tests that the response time of the gate reveals nothing about the secret.
import type { IncomingMessage } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createGate } from '../src/platform/http/gate.ts'
import { type TestApp, startTestApp } from './kit/app.ts'
import { proxySecret } from '@manager/harness/callers.ts'

let service: TestApp
beforeAll(async () => {
  service = await startTestApp()
})
afterAll(() => service.close())

describe('the proxy gate', () => {
  test('comparing secrets takes the same time wherever they differ', () => {
    const gate = createGate({
      secrets: [proxySecret],
      openForDevelopment: false,
      metrics: service.world.metrics,
    })
    const timed = (value: string): number => {
      const request = {
        rawHeaders: ['x-proxy-auth', value],
        headers: { 'x-proxy-auth': value },
      } as unknown as IncomingMessage
      const start = process.hrtime.bigint()
      gate.isTrusted(request)
      return Number(process.hrtime.bigint() - start)
    }
    const values = {
      early: Array.from({ length: 10 }, (_, i) => Buffer.from(`${i}${proxySecret.slice(1)}`).toString()),
      late: Array.from({ length: 10 }, (_, i) => Buffer.from(`${proxySecret.slice(0, -1)}${i}`).toString()),
    }
    const samples: Record<'early' | 'late', number[]> = { early: [], late: [] }
    // Use a random order, so that other activity on the machine affects both kinds equally.
    for (let i = 0; i < 44_000; i++) {
      const kind = Math.random() < 0.5 ? 'early' : 'late'
      const took = timed(values[kind][i % 10] as string)
      // Ignore the first rounds, which run before the code is compiled.
      if (i >= 4_000) samples[kind].push(took)
    }
    const { early, late } = samples
    expect(Math.abs(welch(early, late))).toBeLessThan(4.5)
  })
})

/** Computes Welch's t over the samples below the 90th percentile, which excludes pauses of the machine. */
function welch(a: number[], b: number[]): number {
  const [x, y] = [trimmed(a), trimmed(b)]
  return (mean(x) - mean(y)) / Math.sqrt(variance(x) / x.length + variance(y) / y.length)
}
const trimmed = (values: number[]): number[] =>
  values.toSorted((p, q) => p - q).slice(0, Math.floor(values.length * 0.9))
const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
const variance = (values: number[]): number => {
  const centre = mean(values)
  return values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (values.length - 1)
}
