// Samples the metrics that must not grow in a soak test: memory, descriptors, connections, dead tuples and event loop
// delay.
import { readdirSync } from 'node:fs'
import type { Pool } from 'pg'
import { rssOf } from './cpu.ts'
import type { Replica } from './replicas.ts'
import { type Growth, type Sample, floorsOf, growthOf } from './slopes.ts'
import type { createVerdict } from './verdict.ts'

/** The samples by metric. Metrics of a replica are named `<metric>/<replica>`. */
export type SoakSamples = Record<string, Sample[]>
/** The parts of the stage that are sampled. */
export type SoakTargets = {
  replicas: readonly Pick<Replica, 'name' | 'pid' | 'isAlive' | 'metric'>[]
  sql: Pick<Pool, 'query'>
  /** The number of Redis clients. */
  redisClients: () => Promise<number>
}

/** The allowed growth per minute of each metric. Slower growth would go unnoticed for a week. */
export const maxPerMinute: Readonly<Record<string, number>> = {
  rss_mb: 0.1,
  heap_mb: 0.05,
  descriptors: 0.02,
  eventloop_p99_ms: 0.05,
  pg_connections: 0.02,
  pg_dead_tuples: 200,
  redis_clients: 0.02,
}
const intervalMs = 5_000
const megabyte = 1_048_576
const minuteMs = 60_000
const collectedBlocks = 5

/** Returns the number of open descriptors of a process. */
export const descriptorsOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length

/** Samples every metric once. If a metric cannot be read, it gets no sample. */
export async function sampleOnce(
  { replicas, sql, redisClients }: SoakTargets,
  samples: SoakSamples,
  at = Date.now(),
): Promise<void> {
  const addSample = async (name: string, read: () => Promise<number> | number): Promise<void> => {
    const value = await Promise.resolve()
      .then(read)
      .catch(() => Number.NaN)
    if (Number.isFinite(value)) (samples[name] ??= []).push({ at, value })
  }
  const count = async (query: string): Promise<number> => {
    const { rows } = await sql.query<{ value: string }>(query)
    return Number(rows[0]?.value ?? Number.NaN)
  }
  const running = replicas.filter((replica) => replica.isAlive())
  await Promise.all([
    ...running.flatMap(({ name, pid, metric }) => [
      addSample(`rss_mb/${name}`, () => rssOf(pid)),
      addSample(`descriptors/${name}`, () => descriptorsOf(pid)),
      addSample(`heap_mb/${name}`, async () => (await metric('svc_nodejs_heap_size_used_bytes')) / megabyte),
      addSample(
        `eventloop_p99_ms/${name}`,
        async () => (await metric('svc_nodejs_eventloop_lag_p99_seconds')) * 1_000,
      ),
    ]),
    addSample('pg_connections', () =>
      count("select count(*) as value from pg_stat_activity where backend_type = 'client backend'"),
    ),
    addSample('pg_dead_tuples', () =>
      count('select coalesce(sum(n_dead_tup), 0) as value from pg_stat_user_tables'),
    ),
    addSample('redis_clients', redisClients),
  ])
}

/** Samples every 5 s. The returned function stops the sampling and resolves to the samples. */
export function startSampling(targets: SoakTargets): () => Promise<SoakSamples> {
  const samples: SoakSamples = {}
  let last: Promise<void> = Promise.resolve()
  const timer = setInterval(() => void (last = last.then(() => sampleOnce(targets, samples))), intervalMs)
  return async () => {
    clearInterval(timer)
    await last
    return samples
  }
}

/**
 * For the heap, uses the level after garbage collections, over blocks that are long enough to contain several
 * collections.
 */
function growthIn(metric: string, values: readonly Sample[], blockMs: number): Growth | null {
  const maxGrowth = maxPerMinute[metric] ?? 0
  const floorMs = collectedBlocks * blockMs
  return metric === 'heap_mb'
    ? growthOf(floorsOf(values, floorMs), maxGrowth, floorMs)
    : growthOf(values, maxGrowth, blockMs)
}

/**
 * Checks that no metric grows. A metric with too few samples also fails, because its growth cannot be measured.
 */
export function judgeSoak(
  figures: ReturnType<typeof createVerdict>,
  samples: SoakSamples,
  blockMs = minuteMs,
): void {
  const growing: string[] = []
  const unknown: string[] = []
  const names = new Set(Object.keys(samples).map((name) => name.split('/')[0] ?? ''))
  unknown.push(...Object.keys(maxPerMinute).filter((metric) => !names.has(metric)))
  for (const [name, values] of Object.entries(samples)) {
    const growth = growthIn(name.split('/')[0] ?? '', values, blockMs)
    if (growth === null) {
      unknown.push(name)
      continue
    }
    const { perMinute, low, high, mean, grows } = growth
    const text = `${perMinute.toFixed(3)}[${low.toFixed(3)},${high.toFixed(3)}]`
    figures.show(`${name.replace('/', '_')}_per_min`, `${text}@${mean.toFixed(1)}`)
    if (grows) growing.push(`${name} ${text} per minute`)
  }
  figures.none('growing', growing)
  figures.none('too_few_samples', unknown)
}
