// Prometheus metrics, served on the health port. Labels are low in cardinality: closed sets, names that the code gives,
// and, where an operator must know which, the first ids seen up to a fixed number. Every counter is 0 from the start, so
// that an alert sees its first rise.
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import { storeNames } from './blobs/blob-store.ts'
import { retryKinds } from './postgres/retry.ts'
import { createStatementTimes } from './postgres/statement-times.ts'
import { createRequestHistogram } from './http/request-histogram.ts'

type Watched = {
  pool: { totalCount: number; idleCount: number; options: { max: number } }
  waiting: () => number
  inflight: { size: number }
}

/** Gauges of requests and connections. */
function createLoadGauges({ computedGauge }: MetricFactory) {
  let watched: Watched | null = null
  const gauge = (name: string, help: string, read: (watched: Watched) => number): void =>
    computedGauge(name, help, () => (watched === null ? 0 : read(watched)))
  gauge('svc_http_inflight', 'Requests in flight.', ({ inflight }) => inflight.size)
  gauge('svc_db_pool_in_use', 'Database connections in use.', ({ pool }) => pool.totalCount - pool.idleCount)
  gauge('svc_db_pool_max', 'Database connections there may be.', ({ pool }) => pool.options.max)
  gauge('svc_db_pool_waiting', 'Requests waiting for a connection.', ({ waiting }) => waiting())
  return {
    /** What the gauges read. */
    watch: (what: Watched): void => void (watched = what),
  }
}

/** Counts requests to caches; the counts become lines only when the metrics are read. */
function createCacheCounter(registers: Registry[]) {
  const counts = new Map<string, { cache: string; hit: number; miss: number }>()
  const cacheRequests = new Counter({
    name: 'svc_cache_requests_total',
    help: 'Requests to a cache: served from it (hit), or built (miss).',
    labelNames: ['cache', 'outcome'] as const,
    registers,
    collect() {
      this.reset()
      for (const { cache, ...outcomes } of counts.values())
        for (const [outcome, count] of Object.entries(outcomes)) this.inc({ cache, outcome }, count)
    },
  })
  /** Returns a function that counts for one cache. */
  const cacheCounter = (cache: string) => {
    const own = { cache, hit: 0, miss: 0 }
    counts.set(cache, own)
    return (outcome: 'hit' | 'miss'): void => void own[outcome]++
  }
  return { cacheRequests, cacheCounter }
}

/** The values each label can have; `Labels` itself stands for none. */
type Labels = Readonly<Record<string, readonly string[]>>
type ValuesOf<L extends Labels> = { [Name in keyof L]: L[Name][number] }
type ClosedCounter<L extends Labels> = Pick<Counter, 'get'> & {
  inc: string extends keyof L ? (count?: number) => void : (labels: ValuesOf<L>, count?: number) => void
}
type ClosedHistogram<L extends Labels> = Pick<Histogram, 'get'> & {
  observe: string extends keyof L ? (value: number) => void : (labels: ValuesOf<L>, value: number) => void
}

const combinationsOf = (labels: Labels): Record<string, string>[] =>
  Object.entries(labels).reduce<Record<string, string>[]>(
    (rows, [name, values]) => rows.flatMap((row) => values.map((value) => ({ ...row, [name]: value }))),
    [{}],
  )

/** Makes metrics of one registry; a feature makes its own with it. */
function createMetricFactory(registers: Registry[]) {
  return {
    gauge: (name: string, help: string) => new Gauge({ name, help, registers }),
    /** A gauge by one label, without a sample until it is set. */
    labelledGauge: <const Value extends string>(
      name: string,
      help: string,
      { label }: { label: string; values: readonly Value[] },
    ): ((value: Value, count: number) => void) => {
      const gauge = new Gauge({ name, help, labelNames: [label], registers })
      return (value, count) => gauge.set({ [label]: value }, count)
    },
    /** A gauge that is computed when the metrics are read, and costs nothing in between; null shows none. */
    computedGauge: (name: string, help: string, read: () => number | null): void =>
      void new Gauge({
        name,
        help,
        registers,
        collect() {
          const value = read()
          if (value === null) this.remove()
          else this.set(value)
        },
      }),
    counter: <const L extends Labels = Labels>(name: string, help: string, labels?: L): ClosedCounter<L> => {
      const counter = new Counter({ name, help, labelNames: Object.keys(labels ?? {}), registers })
      for (const combination of combinationsOf(labels ?? {})) counter.inc(combination, 0)
      return counter
    },
    histogram: <const L extends Labels = Labels>(
      name: string,
      help: string,
      { labels, buckets }: { labels?: L; buckets: number[] },
    ): ClosedHistogram<L> => {
      const labelNames = Object.keys(labels ?? {})
      const histogram = new Histogram({ name, help, labelNames, buckets, registers })
      for (const combination of combinationsOf(labels ?? {})) histogram.zero(combination)
      return histogram
    },
    ...createOpenMetrics(registers),
  }
}

/** The label of what comes after the first ids. */
const other = 'other'

/** Metrics whose labels are not known when they are made. */
function createOpenMetrics(registers: Registry[]) {
  return {
    /** By a name that the code gives, such as that of a throttle: `of` returns what counts for it, from 0. */
    namedCounter: (name: string, help: string, label: string) => {
      const counter = new Counter({ name, help, labelNames: [label], registers })
      const of = (value: string): (() => void) => {
        counter.inc({ [label]: value }, 0)
        return () => counter.inc({ [label]: value })
      }
      return { of, get: () => counter.get() }
    },
    /** By id: the first `max` ids keep a series of their own, since a series that goes and comes back has lost counts. */
    counterByFirstIds: (name: string, help: string, { label, max }: { label: string; max: number }) => {
      const counter = new Counter({ name, help, labelNames: [label], registers })
      counter.inc({ [label]: other }, 0)
      const first = new Set<string>()
      /** Null counts for what has no id. */
      return (id: string | null): void => {
        if (id !== null && first.size < max) first.add(id)
        counter.inc({ [label]: id !== null && first.has(id) ? id : other })
      }
    },
  }
}
export type MetricFactory = ReturnType<typeof createMetricFactory>

const createDatabaseMetrics = ({ counter, gauge }: MetricFactory) => ({
  dbRetries: counter(
    'svc_db_retries_total',
    'Tries on another database connection after one was lost: reads, changes that were not sent or may run twice, and transactions of which nothing was kept.',
    { kind: retryKinds },
  ),
  dbWritable: gauge(
    'svc_db_writable',
    '1 while the database accepts writes, by the last probe; 0 while not.',
  ),
})

/** The registry, the metrics of the platform, and what features make their own with. */
export function createMetrics(version: string) {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry, prefix: 'svc_' })
  const factory = createMetricFactory(registers)
  const { counter, gauge, namedCounter } = factory
  const metrics = {
    registry,
    ...factory,
    ...createLoadGauges(factory),
    /** Counts a request. */
    observeRequest: createRequestHistogram(registry),
    /** Counts a statement of the database. */
    observeStatement: createStatementTimes(registry),
    gateRejections: counter(
      'svc_gate_rejections_total',
      'Requests refused by the proxy gate; they are counted here and not logged.',
      { reason: ['no_secret_configured', 'secret', 'no_identity', 'identity'] },
    ),
    shed: counter('svc_shed_total', 'Requests refused because the service is overloaded.', {
      point: ['event_loop', 'db_pool', 'kdf', 'connections', 'esb'],
    }),
    auth: counter('svc_auth_total', 'Credentials examined, by kind and outcome.', {
      kind: ['pat', 'bearer', 'basic', 'other'],
      outcome: ['ok', 'refused', 'throttled', 'failed'],
    }),
    authFailuresDropped: counter(
      'svc_auth_failures_dropped_total',
      'Failed authentications that evidence does not count, because the database was away for too long or the clock was wrong.',
    ),
    authKdfRuns: counter('svc_auth_kdf_runs_total', 'Runs of the slow hash.'),
    authCache: counter(
      'svc_auth_cache_total',
      'Secrets cached as correct (hit) or wrong (refused), or to be hashed (miss).',
      { outcome: ['hit', 'refused', 'miss'] },
    ),
    lockouts: namedCounter(
      'svc_lockouts_total',
      'Blocks of clients after too many failures, by throttle.',
      'throttle',
    ),
    ...createCacheCounter(registers),
    damagedBlobs: counter(
      'svc_blobs_damaged_total',
      'Blobs whose stored bytes were missing or not what their hash says; they are not served.',
      { store: storeNames },
    ),
    logLinesDropped: counter(
      'svc_log_lines_dropped_total',
      'Log lines dropped because standard output was not read in time.',
    ),
    ...createDatabaseMetrics(factory),
    redisDegraded: gauge('svc_redis_degraded', '1 while Redis does not answer.'),
    devOverride: gauge('svc_dev_override_active', '1 while the development escape hatch is open.'),
    jobFailures: namedCounter('svc_job_failures_total', 'Runs of a periodic job that failed.', 'job'),
  }
  showVersion(registers, version)
  return metrics
}

const showVersion = (registers: Registry[], version: string): void =>
  new Gauge({
    name: 'svc_build_info',
    help: 'Version of the service.',
    labelNames: ['version'],
    registers,
  }).set({ version }, 1)

export type Metrics = ReturnType<typeof createMetrics>
