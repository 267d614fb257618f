import type { MetricFactory } from '../../platform/metrics.ts'

export type AuditMetrics = ReturnType<typeof createAuditMetrics>

/** What the audit trail measures. */
export const createAuditMetrics = ({ gauge, computedGauge }: MetricFactory) => ({
  checkpointSeq: gauge(
    'svc_audit_checkpoint_seq',
    'Number of the newest audit checkpoint this process wrote.',
  ),
  /** `read` returns null while it is unknown, and in a process that does not run the job. */
  watchCheckpointAge: (read: () => number | null): void =>
    computedGauge(
      'svc_audit_checkpoint_age_seconds',
      'Time since this process last found or made every change sealed by a checkpoint.',
      read,
    ),
})
