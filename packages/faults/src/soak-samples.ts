// What is sampled during a soak, and what must not grow: memory, descriptors, connections, dead tuples, event loop.
import { readdirSync } from 'node:fs'
import type { Pool } from 'pg'
import { rssOf } from './cpu.ts'
import type { Replica } from './replicas.ts'
import { type Growth, type Sample, floorsOf, growthOf } from './slopes.ts'
import type { createVerdict } from './verdict.ts'

/** The samples of each thing, by its name; of a replica `<thing>/<name of the replica>`. */
export type SoakSamples = Record<string, Sample[]>
/** What a soak needs of its stage. */
export type Soaked = {
  replicas: readonly Pick<Replica, 'name' | 'pid' | 'isAlive' | 'metric'>[]
  sql: Pick<Pool, 'query'>
  /** How many clients Redis has. */
  redisClients: () => Promise<number>
}

/** How much each may grow per minute without a doubt: far less than would be noticed in a week. */
export const mostPerMinute: Readonly<Record<string, number>> = {
  rss_mb: 0.1,
  heap_mb: 0.05,
  descriptors: 0.02,
  eventloop_p99_ms: 0.05,
  pg_connections: 0.02,
  pg_dead_tuples: 200,
  redis_clients: 0.02,
}
const everyMs = 5_000
const megabyte = 1_048_576
const minuteMs = 60_000
const collectedBlocks = 5

/** How many descriptors a process has open. */
export const descriptorsOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length

/** Samples everything once; what does not answer has no sample. */
export async function sampleOnce(
  { replicas, sql, redisClients }: Soaked,
  samples: SoakSamples,
  at = Date.now(),
): Promise<void> {
  const note = async (name: string, read: () => Promise<number> | number): Promise<void> => {
    const value = await Promise.resolve()
      .then(read)
      .catch(() => Number.NaN)
    if (Number.isFinite(value)) (samples[name] ??= []).push({ at, value })
  }
  const count = async (query: string): Promise<number> => {
    const { rows } = await sql.query<{ value: string }>(query)
    return Number(rows[0]?.value ?? Number.NaN)
  }
  const living = replicas.filter((replica) => replica.isAlive())
  await Promise.all([
    ...living.flatMap(({ name, pid, metric }) => [
      note(`rss_mb/${name}`, () => rssOf(pid)),
      note(`descriptors/${name}`, () => descriptorsOf(pid)),
      note(`heap_mb/${name}`, async () => (await metric('svc_nodejs_heap_size_used_bytes')) / megabyte),
      note(
        `eventloop_p99_ms/${name}`,
        async () => (await metric('svc_nodejs_eventloop_lag_p99_seconds')) * 1_000,
      ),
    ]),
    note('pg_connections', () =>
      count("select count(*) as value from pg_stat_activity where backend_type = 'client backend'"),
    ),
    note('pg_dead_tuples', () =>
      count('select coalesce(sum(n_dead_tup), 0) as value from pg_stat_user_tables'),
    ),
    note('redis_clients', redisClients),
  ])
}

/** Samples every five seconds until it is ended, and then gives what was sampled. */
export function startSampling(soaked: Soaked): () => Promise<SoakSamples> {
  const samples: SoakSamples = {}
  let last: Promise<void> = Promise.resolve()
  const timer = setInterval(() => void (last = last.then(() => sampleOnce(soaked, samples))), everyMs)
  return async () => {
    clearInterval(timer)
    await last
    return samples
  }
}

/** Of the heap counts what is left after collections, over blocks in which there are some. */
function growthIn(thing: string, some: readonly Sample[], blockMs: number): Growth | null {
  const most = mostPerMinute[thing] ?? 0
  const floorMs = collectedBlocks * blockMs
  return thing === 'heap_mb'
    ? growthOf(floorsOf(some, floorMs), most, floorMs)
    : growthOf(some, most, blockMs)
}

/** Nothing may grow; what has too few samples to tell is broken too, because nothing was shown. */
export function judgeSoak(
  figures: ReturnType<typeof createVerdict>,
  samples: SoakSamples,
  blockMs = minuteMs,
): void {
  const growing: string[] = []
  const unknown: string[] = []
  const names = new Set(Object.keys(samples).map((name) => name.split('/')[0] ?? ''))
  unknown.push(...Object.keys(mostPerMinute).filter((thing) => !names.has(thing)))
  for (const [name, some] of Object.entries(samples)) {
    const growth = growthIn(name.split('/')[0] ?? '', some, blockMs)
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
