import type { MetricFactory } from '../../platform/metrics.ts'

export type AuditMetrics = ReturnType<typeof createAuditMetrics>

/** What the audit trail measures. */
export const createAuditMetrics = ({ gauge }: MetricFactory) => ({
  checkpointSeq: gauge(
    'svc_audit_checkpoint_seq',
    'Number of the newest audit checkpoint this process wrote.',
  ),
})
