// The settings of the log of calls.
import { integer, setting } from '../../config/readers.ts'

export const callLogSettings = {
  esbAuditRetentionDays: setting(integer(31, 3_650), {
    key: 'esb.audit_retention_days',
    env: 'SVC_ESB_AUDIT_RETENTION_DAYS',
    default: 90,
    doc: 'How many days logged ESB calls are kept; a month of them goes when the last of its calls is older.',
  }),
} as const
