import { integer, setting } from '../../config/readers.ts'

export const callLogSettings = {
  esbAuditRetentionDays: setting(integer(31, 3_650), {
    key: 'esb.audit_retention_days',
    env: 'SVC_ESB_AUDIT_RETENTION_DAYS',
    default: 90,
    doc: 'Days for which logged ESB calls are kept. A whole month of calls is deleted when its newest call is older than this.',
  }),
} as const
