// Prometheus metrics, served on the health port. Labels have few values: closed sets, names from the code, or a
// limited number of ids that operators must tell apart. Every counter starts at 0, so that alerts detect the first
// increase.
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import { storeNames } from './blobs/blob-store.ts'
import { retryKinds } from './postgres/retry.ts'
import { createStatementTimes } from './postgres/statement-times.ts'
import { createRequestHistogram } from './http/request-histogram.ts'

type WatchedObjects = {
  pool: { totalCount: number; idleCount: number; options: { max: number } }
  waiting: () => number
  inflight: { size: number }
}

/** Gauges for requests and connections. */
function createLoadGauges({ computedGauge }: MetricFactory) {
  let watchedObjects: WatchedObjects | null = null
  const gauge = (name: string, help: string, read: (watchedObjects: WatchedObjects) => number): void =>
    computedGauge(name, help, () => (watchedObjects === null ? 0 : read(watchedObjects)))
  gauge('svc_http_inflight', 'Requests in flight.', ({ inflight }) => inflight.size)
  gauge('svc_db_pool_in_use', 'Database connections in use.', ({ pool }) => pool.totalCount - pool.idleCount)
  gauge('svc_db_pool_max', 'Maximum number of database connections.', ({ pool }) => pool.options.max)
  gauge('svc_db_pool_waiting', 'Requests waiting for a connection.', ({ waiting }) => waiting())
  return {
    /** Sets the objects that the gauges read. */
    watch: (objects: WatchedObjects): void => void (watchedObjects = objects),
  }
}

/** Counts cache requests; the counts become samples only when the metrics are scraped. */
function createCacheCounter(registers: Registry[]) {
  const countsByCache = new Map<string, { cache: string; hit: number; miss: number }>()
  const cacheRequests = new Counter({
    name: 'svc_cache_requests_total',
    help: 'Cache lookups: served from the cache (hit), or built (miss).',
    labelNames: ['cache', 'outcome'] as const,
    registers,
    collect() {
      this.reset()
      for (const { cache, ...outcomes } of countsByCache.values())
        for (const [outcome, count] of Object.entries(outcomes)) this.inc({ cache, outcome }, count)
    },
  })
  /** Returns a function that counts the requests of one cache. */
  const cacheCounter = (cache: string) => {
    const outcomeCounts = { cache, hit: 0, miss: 0 }
    countsByCache.set(cache, outcomeCounts)
    return (outcome: 'hit' | 'miss'): void => void outcomeCounts[outcome]++
  }
  return { cacheRequests, cacheCounter }
}

/** The allowed values of each label; the type `Labels` itself stands for a metric without labels. */
type Labels = Readonly<Record<string, readonly string[]>>
type LabelValues<L extends Labels> = { [Name in keyof L]: L[Name][number] }
type ClosedCounter<L extends Labels> = Pick<Counter, 'get'> & {
  inc: string extends keyof L ? (count?: number) => void : (labels: LabelValues<L>, count?: number) => void
}
type ClosedHistogram<L extends Labels> = Pick<Histogram, 'get'> & {
  observe: string extends keyof L ? (value: number) => void : (labels: LabelValues<L>, value: number) => void
}

const listCombinations = (labels: Labels): Record<string, string>[] =>
  Object.entries(labels).reduce<Record<string, string>[]>(
    (rows, [name, values]) => rows.flatMap((row) => values.map((value) => ({ ...row, [name]: value }))),
    [{}],
  )

/** Creates the metric factory of one registry; features create their own metrics with it. */
function createMetricFactory(registers: Registry[]) {
  return {
    gauge: (name: string, help: string) => new Gauge({ name, help, registers }),
    /** A gauge with one label; it has no sample until it is set. */
    labeledGauge: <const Value extends string>(
      name: string,
      help: string,
      { label }: { label: string; values: readonly Value[] },
    ): ((value: Value, count: number) => void) => {
      const gauge = new Gauge({ name, help, labelNames: [label], registers })
      return (value, count) => gauge.set({ [label]: value }, count)
    },
    /** A gauge that is computed on each scrape and costs nothing otherwise; null removes the sample. */
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
      for (const combination of listCombinations(labels ?? {})) counter.inc(combination, 0)
      return counter
    },
    histogram: <const L extends Labels = Labels>(
      name: string,
      help: string,
      { labels, buckets }: { labels?: L; buckets: number[] },
    ): ClosedHistogram<L> => {
      const labelNames = Object.keys(labels ?? {})
      const histogram = new Histogram({ name, help, labelNames, buckets, registers })
      for (const combination of listCombinations(labels ?? {})) histogram.zero(combination)
      return histogram
    },
    ...createOpenMetrics(registers),
  }
}

/** Label value for all ids beyond the first `max`. */
const otherIdsLabel = 'other'

/** Metrics whose label values are unknown when the metric is created. */
function createOpenMetrics(registers: Registry[]) {
  return {
    /**
     * A counter labeled by a name from the code, such as a throttle. `startSeries` creates the series at 0 and returns
     * a function that increments it.
     */
    namedCounter: (name: string, help: string, label: string) => {
      const counter = new Counter({ name, help, labelNames: [label], registers })
      const createSeries = (value: string): (() => void) => {
        counter.inc({ [label]: value }, 0)
        return () => counter.inc({ [label]: value })
      }
      return { startSeries: createSeries, get: () => counter.get() }
    },
    /** A counter labeled by id. The first `max` ids keep their series, because dropping a series loses its counts. */
    counterById: (name: string, help: string, { label, max }: { label: string; max: number }) => {
      const counter = new Counter({ name, help, labelNames: [label], registers })
      counter.inc({ [label]: otherIdsLabel }, 0)
      const labeledIds = new Set<string>()
      /** Null stands for an event without an id. */
      return (id: string | null): void => {
        if (id !== null && labeledIds.size < max) labeledIds.add(id)
        counter.inc({ [label]: id !== null && labeledIds.has(id) ? id : otherIdsLabel })
      }
    },
  }
}
/** Creates metrics in the registry of the service. */
export type MetricFactory = ReturnType<typeof createMetricFactory>

const createDatabaseMetrics = ({ counter, gauge }: MetricFactory) => ({
  dbRetries: counter(
    'svc_db_retries_total',
    'Retries on another database connection after a connection was lost: reads, writes that were not sent or are idempotent, and transactions that were rolled back.',
    { kind: retryKinds },
  ),
  dbWritable: gauge('svc_db_writable', '1 if the last probe could write to the database, otherwise 0.'),
})

/** Creates the registry, the platform metrics and the factory that features use for their own metrics. */
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
    /** Counts a database statement. */
    observeStatement: createStatementTimes(registry),
    gateRejections: counter(
      'svc_gate_rejections_total',
      'Requests rejected by the proxy gate, which are not logged.',
      { reason: ['no_secret_configured', 'secret', 'no_identity', 'identity'] },
    ),
    shed: counter('svc_shed_total', 'Requests rejected because the service is overloaded.', {
      point: ['event_loop', 'db_pool', 'kdf', 'connections', 'esb'],
    }),
    auth: counter('svc_auth_total', 'Credential checks, by kind and outcome.', {
      kind: ['pat', 'bearer', 'basic', 'scim', 'other'],
      outcome: ['ok', 'refused', 'throttled', 'failed'],
    }),
    authFailuresDropped: counter(
      'svc_auth_failures_dropped_total',
      'Failed authentications missing from the evidence, because the database was unreachable for too long or the clock was wrong.',
    ),
    authKdfRuns: counter('svc_auth_kdf_runs_total', 'Slow hashes (PBKDF2) that were computed.'),
    authCache: counter(
      'svc_auth_cache_total',
      'Secret verifications: known from the cache to be correct (hit) or wrong (refused), or hashed (miss).',
      { outcome: ['hit', 'refused', 'miss'] },
    ),
    lockouts: namedCounter(
      'svc_lockouts_total',
      'Client lockouts after too many failures, by throttle.',
      'throttle',
    ),
    ...createCacheCounter(registers),
    damagedBlobs: counter(
      'svc_blobs_damaged_total',
      'Blobs whose stored bytes were missing or did not match their hash; they are not served.',
      { store: storeNames },
    ),
    logLinesDropped: counter(
      'svc_log_lines_dropped_total',
      'Log lines dropped because standard output was not read in time.',
    ),
    ...createDatabaseMetrics(factory),
    redisDegraded: gauge('svc_redis_degraded', '1 while Redis is unreachable.'),
    devOverride: gauge('svc_dev_override_active', '1 while the development escape hatch is open.'),
    jobFailures: namedCounter('svc_job_failures_total', 'Failed runs of periodic jobs.', 'job'),
  }
  createVersionGauge(registers, version)
  return metrics
}

const createVersionGauge = (registers: Registry[], version: string): void =>
  new Gauge({
    name: 'svc_build_info',
    help: 'Version of the service.',
    labelNames: ['version'],
    registers,
  }).set({ version }, 1)

/** The registry, the platform metrics and the metric factory. */
export type Metrics = ReturnType<typeof createMetrics>
