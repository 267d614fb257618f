// Prometheus metrics, served on the health port. Labels are low in cardinality: never an id.
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'

/** The registry and every metric of the service. */
export function createMetrics(version: string) {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry, prefix: 'svc_' })
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers })
  const metrics = {
    registry,
    httpDuration: new Histogram({
      name: 'svc_http_request_duration_seconds',
      help: 'Time from the first byte of a request to the end of its answer.',
      labelNames: ['route', 'method', 'status'] as const,
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers,
    }),
    httpInflight: gauge('svc_http_inflight', 'Requests being answered.'),
    gateRejections: new Counter({
      name: 'svc_gate_rejections_total',
      help: 'Requests refused by the proxy gate; they are counted here and not logged.',
      labelNames: ['reason'] as const,
      registers,
    }),
    shed: new Counter({
      name: 'svc_shed_total',
      help: 'Requests refused because the service is overloaded.',
      labelNames: ['point'] as const,
      registers,
    }),
    dbPoolInUse: gauge('svc_db_pool_in_use', 'Database connections in use.'),
    dbPoolWaiting: gauge('svc_db_pool_waiting', 'Requests waiting for a connection.'),
    redisDegraded: gauge('svc_redis_degraded', '1 while Redis does not answer.'),
    devOverride: gauge('svc_dev_override_active', '1 while the development escape hatch is open.'),
    auditCheckpointSeq: gauge(
      'svc_audit_checkpoint_seq',
      'Number of the newest audit checkpoint this process wrote.',
    ),
    jobFailures: new Counter({
      name: 'svc_job_failures_total',
      help: 'Runs of a periodic job that failed.',
      labelNames: ['job'] as const,
      registers,
    }),
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
