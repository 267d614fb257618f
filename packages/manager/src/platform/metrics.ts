// Prometheus metrics, served on the health port. Labels are low in cardinality: never an id.
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import { createRequestHistogram } from './request-histogram.ts'

type Watched = {
  pool: { totalCount: number; idleCount: number; waitingCount: number }
  inflight: { size: number }
}

/** Gauges of requests and connections. */
function createLoadGauges(registers: Registry[]) {
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
  return {
    /** What the gauges read. */
    watch: (what: Watched): void => void (watched = what),
  }
}

/** Counts what is kept ready; the counts become lines only when somebody asks for the metrics. */
function createPreparedCounter(registers: Registry[]) {
  const counts = new Map<string, { answer: string; hit: number; built: number }>()
  const prepared = new Counter({
    name: 'svc_prepared_answers_total',
    help: 'Answers kept ready: served from memory (hit), or built again after a change (built).',
    labelNames: ['answer', 'outcome'] as const,
    registers,
    collect() {
      this.reset()
      for (const { answer, ...outcomes } of counts.values())
        for (const [outcome, count] of Object.entries(outcomes)) this.inc({ answer, outcome }, count)
    },
  })
  /** A function that counts for one kind of answer. */
  const preparedCounter = (answer: string) => {
    const own = { answer, hit: 0, built: 0 }
    counts.set(answer, own)
    return (outcome: 'hit' | 'built'): void => void own[outcome]++
  }
  return { prepared, preparedCounter }
}

function createEsbHistograms(registers: Registry[]) {
  return {
    esbForward: new Histogram({
      name: 'svc_esb_forward_duration_seconds',
      help: 'Time an admitted ESB call takes, by outcome: answered, failed (502), refused, or abandoned by its caller.',
      labelNames: ['outcome'] as const,
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    }),
    esbBatchRows: new Histogram({
      name: 'svc_esb_audit_batch_rows',
      help: 'Rows of ESB calls that one statement writes.',
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
      registers,
    }),
    esbBatchSeconds: new Histogram({
      name: 'svc_esb_audit_batch_seconds',
      help: 'Time such a statement takes.',
      buckets: [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
      registers,
    }),
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
      'Secrets remembered as right (hit) or wrong (refused), or to be hashed (miss).',
      ['outcome'],
    ),
    lockouts: counter('svc_lockouts_total', 'Blocks of clients after too many failures, by throttle.', [
      'throttle',
    ]),
    ...createPreparedCounter(registers),
    ...createEsbHistograms(registers),
    logLinesDropped: counter(
      'svc_log_lines_dropped_total',
      'Log lines dropped because standard output was not read in time.',
      [],
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
