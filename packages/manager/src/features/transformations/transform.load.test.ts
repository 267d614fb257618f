// These tests check that a transformation that takes too long is stopped by terminating its thread.
import { describe, expect, test } from 'vitest'
import { options, transformationOf } from '../../../test/kit/transformations.ts'
import { poolLimits } from './transform-pool.service.ts'
import { createTransformService } from './transform.service.ts'

const mebibytes = (count: number): number => count * 1_048_576

describe('limits of the workers', () => {
  const body = (): Buffer => Buffer.from(JSON.stringify(Array(10_000).fill(1)))
  const slow = `{{range .Data}}{{$x := urlquery (printf "%1000000s" "")}}{{end}}`

  test('a rendering that takes too long is ended with its thread, and the next one is rendered', async () => {
    const generous = { ...options, maxOutputBytes: mebibytes(1_024) }
    const impatient = createTransformService(generous, { ...poolLimits, threads: 1, maxMs: 2_500 })
    const started = performance.now()
    await expect(impatient.render(transformationOf({ template: slow, body: body() }))).rejects.toMatchObject({
      source: 'template',
      message: 'the transformation template failed: it took more than 2500 ms',
    })
    expect(performance.now() - started).toBeGreaterThan(2_400)
    const { output } = await impatient.render(transformationOf({ template: '{{len .Data}}', body: body() }))
    expect(output.toString()).toBe('10000')
    await impatient.close()
  })
})
