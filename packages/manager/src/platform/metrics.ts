// Prometheus metrics, served on the health port. Labels are low in cardinality: never an id.
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'

type RequestLabels = { route: string; method: string; status: string }
type Watched = {
  pool: { totalCount: number; idleCount: number; waitingCount: number }
  inflight: { size: number }
}

/** Metrics about requests and connections. */
function createRequestMetrics(registers: Registry[]) {
  let watched: Watched | null = null
  /** A gauge that is read when somebody asks for the metrics, and costs nothing in between. */
  const gauge = (name: string, help: string, read: (watched: Watched) => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(watched === null ? 0 : read(watched))
      },
    })
  gauge('svc_http_inflight', 'Requests being answered.', ({ inflight }) => inflight.size)
  gauge('svc_db_pool_in_use', 'Database connections in use.', ({ pool }) => pool.totalCount - pool.idleCount)
  gauge('svc_db_pool_waiting', 'Requests waiting for a connection.', ({ pool }) => pool.waitingCount)
  const duration = new Histogram({
    name: 'svc_http_request_duration_seconds',
    help: 'Time from the first byte of a request to the end of its answer.',
    labelNames: ['route', 'method', 'status'] as const,
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers,
  })
  const observers = new Map<string, Map<string, { observe(seconds: number): void }>>()
  return {
    /** What the gauges read. */
    watch: (what: Watched): void => void (watched = what),
    /** Counts a request; its labels are resolved once per combination, of which there are few. */
    observeRequest: (labels: RequestLabels, seconds: number): void => {
      let ofRoute = observers.get(labels.route)
      if (ofRoute === undefined) observers.set(labels.route, (ofRoute = new Map()))
      const name = labels.method + labels.status
      let observer = ofRoute.get(name)
      if (observer === undefined) ofRoute.set(name, (observer = duration.labels(labels)))
      observer.observe(seconds)
    },
  }
}

/** The registry and every metric of the service. */
export function createMetrics(version: string) {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry, prefix: 'svc_' })
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers })
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Counter({ name, help, labelNames, registers })
  const metrics = {
    registry,
    ...createRequestMetrics(registers),
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
      'Secrets remembered as right (hit) or wrong (refused), or to be hashed (miss).',
      ['outcome'],
    ),
    lockouts: counter('svc_lockouts_total', 'Blocks of clients after too many failures, by throttle.', [
      'throttle',
    ]),
    prepared: counter(
      'svc_prepared_answers_total',
      'Answers kept ready: served from memory (hit), or built again after a change (built).',
      ['answer', 'outcome'],
    ),
    redisDegraded: gauge('svc_redis_degraded', '1 while Redis does not answer.'),
    devOverride: gauge('svc_dev_override_active', '1 while the development escape hatch is open.'),
    auditCheckpointSeq: gauge(
      'svc_audit_checkpoint_seq',
      'Number of the newest audit checkpoint this process wrote.',
    ),
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
