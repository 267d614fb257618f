// Prometheus metrics, served on the health port. Labels are low in cardinality: never an id.
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import { createRequestHistogram } from './http/request-histogram.ts'

type Watched = {
  pool: { totalCount: number; idleCount: number; waitingCount: number }
  inflight: { size: number }
}

/** Gauges of requests and connections. */
function createLoadGauges(registers: Registry[]) {
  let watched: Watched | null = null
  /** A gauge that is computed when the metrics are read, and costs nothing in between. */
  const gauge = (name: string, help: string, read: (watched: Watched) => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(watched === null ? 0 : read(watched))
      },
    })
  gauge('svc_http_inflight', 'Requests in flight.', ({ inflight }) => inflight.size)
  gauge('svc_db_pool_in_use', 'Database connections in use.', ({ pool }) => pool.totalCount - pool.idleCount)
  gauge('svc_db_pool_waiting', 'Requests waiting for a connection.', ({ pool }) => pool.waitingCount)
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

/** Makes metrics of one registry; a feature makes its own with it. */
function createMetricFactory(registers: Registry[]) {
  return {
    gauge: (name: string, help: string) => new Gauge({ name, help, registers }),
    counter: <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
      new Counter({ name, help, labelNames, registers }),
    histogram: <Label extends string = never>(
      name: string,
      help: string,
      options: { labelNames?: readonly Label[]; buckets: number[] },
    ) => new Histogram<Label>({ name, help, ...options, registers }),
  }
}
export type MetricFactory = ReturnType<typeof createMetricFactory>

/** The registry, the metrics of the platform, and what features make their own with. */
export function createMetrics(version: string) {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry, prefix: 'svc_' })
  const factory = createMetricFactory(registers)
  const { counter, gauge } = factory
  const metrics = {
    registry,
    ...factory,
    ...createLoadGauges(registers),
    /** Counts a request. */
    observeRequest: createRequestHistogram(registry),
    gateRejections: counter(
      'svc_gate_rejections_total',
      'Requests refused by the proxy gate; they are counted here and not logged.',
      ['reason'],
    ),
    shed: counter('svc_shed_total', 'Requests refused because the service is overloaded.', ['point']),
    auth: counter(
      'svc_auth_total',
      'Credentials examined, by kind (pat, bearer, basic, other) and outcome (ok, refused, throttled, failed).',
      ['kind', 'outcome'],
    ),
    authKdfRuns: counter('svc_auth_kdf_runs_total', 'Runs of the slow hash.', []),
    authCache: counter(
      'svc_auth_cache_total',
      'Secrets cached as correct (hit) or wrong (refused), or to be hashed (miss).',
      ['outcome'],
    ),
    lockouts: counter('svc_lockouts_total', 'Blocks of clients after too many failures, by throttle.', [
      'throttle',
    ]),
    ...createCacheCounter(registers),
    logLinesDropped: counter(
      'svc_log_lines_dropped_total',
      'Log lines dropped because standard output was not read in time.',
      [],
    ),
    redisDegraded: gauge('svc_redis_degraded', '1 while Redis does not answer.'),
    devOverride: gauge('svc_dev_override_active', '1 while the development escape hatch is open.'),
    jobFailures: counter('svc_job_failures_total', 'Runs of a periodic job that failed.', ['job']),
  }
  new Gauge({
    name: 'svc_build_info',
    help: 'Version of the service.',
    labelNames: ['version'],
    registers,
  }).set({ version }, 1)
  return metrics
}

export type Metrics = ReturnType<typeof createMetrics>
