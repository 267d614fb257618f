import type { MetricFactory } from '../../platform/metrics.ts'

export type AuditMetrics = ReturnType<typeof createAuditMetrics>

export const createAuditMetrics = ({ gauge, computedGauge }: MetricFactory) => ({
  checkpointSeq: gauge(
    'svc_audit_checkpoint_seq',
    'Sequence number of the newest audit checkpoint that this process wrote.',
  ),
  /**
   * `read` returns null while the age is unknown. It also returns null in a process that does not run the
   * job.
   */
  watchCheckpointAge: (read: () => number | null): void =>
    computedGauge(
      'svc_audit_checkpoint_age_seconds',
      'Seconds since a checkpoint last covered all changes.',
      read,
    ),
  /** `read` returns null until this process has verified the trail or read a result. */
  watchVerification: (read: () => { isOk: boolean; seq: number | null } | null): void => {
    computedGauge(
      'svc_audit_chain_ok',
      '1 if the verified part of the audit trail is intact, 0 if it is broken.',
      () => {
        const verdict = read()
        return verdict === null ? null : Number(verdict.isOk)
      },
    )
    computedGauge(
      'svc_audit_chain_verified_seq',
      'Sequence number of the newest audit checkpoint whose rows are all verified.',
      () => read()?.seq ?? null,
    )
  },
  /** `read` returns null if no copies are configured. */
  watchSinkLag: (read: () => number | null): void =>
    computedGauge(
      'svc_audit_checkpoint_sink_lag',
      'Audit checkpoints that are not yet copied to the bucket.',
      read,
    ),
})
