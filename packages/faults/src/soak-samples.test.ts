// Checks that a soak test finds the one metric that grows, and that it reports metrics that have too few samples.
import { closeSync, openSync } from 'node:fs'
import type { QueryResult } from 'pg'
import { expect, test, vi } from 'vitest'
import {
  type SoakSamples,
  descriptorsOf,
  judgeSoak,
  maxPerMinute,
  sampleOnce,
  startSampling,
} from './soak-samples.ts'
import { type Verdict, createVerdict } from './verdict.ts'

function verdictOf(samples: SoakSamples): Verdict {
  const figures = createVerdict()
  judgeSoak(figures, samples)
  return figures.verdict
}

const things = ['rss_mb/a', 'heap_mb/a', 'descriptors/a', 'eventloop_p99_ms/a']
const names = [...things, 'pg_connections', 'pg_dead_tuples', 'redis_clients']
/** 30 minutes of samples, one every 5 s, at a constant level with some noise. */
const evenSamples = (): SoakSamples =>
  Object.fromEntries(
    names.map((name) => [
      name,
      Array.from({ length: 360 }, (_, index) => ({ at: index * 5_000, value: 100 + ((index * 37) % 11) })),
    ]),
  )

test('what stays even does not grow', () => {
  expect(verdictOf(evenSamples()).broken).toEqual([])
})

test.each(names)('a leak is found: %s', (name) => {
  const samples = evenSamples()
  const perMinute = 10 * (maxPerMinute[name.split('/')[0] ?? ''] ?? 0) + 1
  samples[name] = (samples[name] ?? []).map(({ at, value }) => ({
    at,
    value: value + (perMinute * at) / 60_000,
  }))
  const { broken } = verdictOf(samples)
  expect(broken).toMatchObject([{ figure: 'growing' }])
  expect(broken[0]?.details).toContain(name)
})

test('too few samples, or none of a thing, show nothing', () => {
  const samples = evenSamples()
  delete samples['redis_clients']
  samples['pg_connections'] = samples['pg_connections']?.slice(0, 20) ?? []
  expect(verdictOf(samples).broken).toEqual([
    { figure: 'too_few_samples', details: 'redis_clients; pg_connections', isBound: false },
  ])
})

test('everything is sampled of what answers, and nothing of what does not', async () => {
  const samples: SoakSamples = {}
  const metric = (name: string): Promise<number> =>
    name.includes('heap') ? Promise.resolve(2 * 1_048_576) : Promise.reject(new Error('away'))
  const replica = { name: 'a', pid: process.pid, metric }
  const query = (): Promise<QueryResult> => Promise.resolve({ rows: [{ value: '7' }] } as QueryResult)
  await sampleOnce(
    {
      replicas: [
        { ...replica, isAlive: () => true },
        { ...replica, name: 'dead', isAlive: () => false },
      ],
      sql: { query: query as never },
      redisClients: () => Promise.resolve(3),
    },
    samples,
    5,
  )
  expect(Object.keys(samples).toSorted()).toEqual(
    [
      'descriptors/a',
      'heap_mb/a',
      'pg_connections',
      'pg_dead_tuples',
      'redis_clients',
      'rss_mb/a',
    ].toSorted(),
  )
  expect([samples['heap_mb/a'], samples['pg_connections']]).toEqual([
    [{ at: 5, value: 2 }],
    [{ at: 5, value: 7 }],
  ])
})

test('an open file is a descriptor', () => {
  const before = descriptorsOf(process.pid)
  const files = Array.from({ length: 10 }, () => openSync('/dev/null', 'r'))
  const during = descriptorsOf(process.pid)
  for (const file of files) closeSync(file)
  expect(during - before).toBeGreaterThanOrEqual(9)
})

test('a sample is taken every five seconds until the end', async () => {
  vi.useFakeTimers()
  try {
    const query = (): Promise<QueryResult> => Promise.resolve({ rows: [] as unknown[] } as QueryResult)
    const redisClients = (): Promise<number> => Promise.resolve(3)
    const end = startSampling({ replicas: [], sql: { query: query as never }, redisClients })
    await vi.advanceTimersByTimeAsync(16_000)
    const samples = await end()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(Object.keys(samples)).toEqual(['redis_clients'])
    expect(samples['redis_clients']).toHaveLength(3)
  } finally {
    vi.useRealTimers()
  }
})
