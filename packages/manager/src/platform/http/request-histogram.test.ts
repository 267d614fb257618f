import { Registry } from 'prom-client'
import { describe, expect, test } from 'vitest'
import { createRequestHistogram } from './request-histogram.ts'

describe('the histogram of requests', () => {
  test('counts every request in its bucket and those above, with sum and count, by route, method and status', async () => {
    const registry = new Registry()
    const observe = createRequestHistogram(registry)
    const get = { route: '/a/:id', method: 'GET', status: '200' }
    for (const seconds of [0.001, 0.002, 0.003, 0.3, 7]) observe(get, seconds)
    observe({ ...get, status: '404' }, 0.001)
    const lines = (await registry.metrics()).split('\n')
    const series = '{route="/a/:id",method="GET",status="200"}'
    const bucket = (le: string): string =>
      `svc_http_request_duration_seconds_bucket{le="${le}",${series.slice(1)} `
    const counts = ['0.002', '0.005', '0.25', '0.5', '5', '+Inf'].map((le) =>
      Number(lines.find((line) => line.startsWith(bucket(le)))?.slice(bucket(le).length)),
    )
    expect(counts).toEqual([2, 3, 3, 4, 4, 5])
    expect(lines).toContain(`svc_http_request_duration_seconds_count${series} 5`)
    const sum = lines.find((line) => line.startsWith(`svc_http_request_duration_seconds_sum${series}`))
    expect(Number(sum?.split(' ').at(-1))).toBeCloseTo(7.306)
    expect(lines).toContain(
      'svc_http_request_duration_seconds_count{route="/a/:id",method="GET",status="404"} 1',
    )
    expect(lines).toContain('# TYPE svc_http_request_duration_seconds histogram')
    expect(lines.filter((line) => line.includes('_bucket{'))).toHaveLength(24)
  })
})
