// These tests check that hostile transformations do not block the event loop.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import {
  type Input,
  options,
  outcome,
  patientLimits,
  transformationOf,
} from '../../../test/kit/transformations.ts'
import { createTransformService } from './transform.service.ts'

const mebibytes = (count: number): number => count * 1_048_576

const service = createTransformService(options, patientLimits)
afterAll(() => service.close())

describe('under bombs', () => {
  const bombs: Input[] = [
    { template: '{{len .Data}}', body: `[${'1,'.repeat(mebibytes(5) - 2)}1]`, type: 'JSON' },
    { template: '{{toJson .Data}}', body: JSON.stringify({ a: 'x<'.repeat(mebibytes(1)) }) },
    { template: 'x', body: '['.repeat(mebibytes(10)), type: 'JSON' },
    { template: '{{toJson .Data}}', body: `<a>${'&lt;'.repeat(mebibytes(1))}</a>`, type: 'XML' },
    { template: 'x', body: `<a>${'<b/>'.repeat(mebibytes(2))}</a>`, type: 'SOAP' },
    { template: 'x', body: `<!DOCTYPE a [${'<!ENTITY b "&a;&a;">'.repeat(100_000)}]><a/>`, type: 'XML' },
    { template: 'x', body: `<a ${'b="" '.repeat(mebibytes(2))}/>`, type: 'XML' },
    { template: '{{range .Data}}{{range $.Data}}{{end}}{{end}}', body: JSON.stringify(Array(5_000).fill(1)) },
    {
      template: '{{range .Data}}{{toUpper $.Meta.Timestamp}}{{toJson $}}{{end}}',
      body: '[1,2,3,4,5,6,7,8,9]',
    },
    {
      template: '{{range .Data}}{{$x := js (printf "%10000s" "é")}}{{end}}',
      body: JSON.stringify(Array(2_000).fill(1)),
    },
  ].map((input) => ({ ...input, body: Buffer.from(input.body) }))

  const small = { template: '{"a":{{toJson .Data.a}}}', body: JSON.stringify({ a: 'x'.repeat(1_000) }) }

  /**
   * Renders small bodies until the load ends. Returns the 99th percentiles of their latency and of the event
   * loop delay.
   */
  async function traffic(isOver: () => boolean) {
    const delay = monitorEventLoopDelay({ resolution: 5 })
    const latencies: number[] = []
    delay.enable()
    for (; !isOver(); await setTimeout(2)) {
      const started = performance.now()
      await setImmediate()
      await service.render(transformationOf(small))
      latencies.push(performance.now() - started)
    }
    delay.disable()
    latencies.sort((a, b) => a - b)
    return {
      smallMs: latencies[Math.floor(latencies.length * 0.99)] as number,
      loopMs: delay.percentile(99) / 1e6,
    }
  }

  test(
    'the event loop stays free and small bodies are rendered as fast as before',
    {
      retry: 3,
      timeout: 60_000,
    },
    async () => {
      await service.render(transformationOf({ template: 'x', body: Buffer.alloc(20_000, ' ') }))
      const end = performance.now() + 1_000
      const quiet = await traffic(() => performance.now() > end)
      const renderAll = async (application: string): Promise<void> => {
        for (const bomb of bombs) {
          // Bodies arrive one at a time, and the event loop runs between them.
          await setImmediate()
          await outcome(() =>
            service.render(transformationOf({ ...bomb, body: Buffer.from(bomb.body), application })),
          )
        }
      }
      let isOver = false
      const all = Promise.all(['one', 'two'].map(renderAll)).finally(() => (isOver = true))
      const busy = await traffic(() => isOver)
      await all
      expect(busy.loopMs).toBeLessThanOrEqual(50)
      expect(busy.smallMs).toBeLessThan(quiet.smallMs * 1.3 + 5)
    },
  )
})
