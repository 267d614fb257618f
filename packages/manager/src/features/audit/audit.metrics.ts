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
  /** `read` returns null in a process that has not verified or read anything yet. */
  watchVerification: (read: () => { isOk: boolean; seq: number | null } | null): void => {
    computedGauge(
      'svc_audit_chain_ok',
      '1 while everything verified of the audit trail is whole, 0 from when something broken is found.',
      () => {
        const verdict = read()
        return verdict === null ? null : Number(verdict.isOk)
      },
    )
    computedGauge(
      'svc_audit_chain_verified_seq',
      'Number of the newest audit checkpoint up to which everything is verified.',
      () => read()?.seq ?? null,
    )
  },
  /** `read` returns null where no copies are made. */
  watchSinkLag: (read: () => number | null): void =>
    computedGauge(
      'svc_audit_checkpoint_sink_lag',
      'Audit checkpoints that have no copy in the bucket yet.',
      read,
    ),
})
