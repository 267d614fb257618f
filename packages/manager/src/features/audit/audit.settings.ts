// The settings of the audit trail.
import { integer, setting } from '../../config/readers.ts'

export const auditSettings = {
  checkpointIntervalMs: setting(integer(100, 3_600_000), {
    key: 'audit.checkpoint_interval_ms',
    env: 'SVC_AUDIT_CHECKPOINT_INTERVAL_MS',
    default: 60_000,
    doc: 'How often the heads of the audit chains that moved are sealed by a signed checkpoint.',
  }),
} as const
