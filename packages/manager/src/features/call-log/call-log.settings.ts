import { integer, defineSetting } from '../../config/readers.ts'

export const callLogSettings = {
  esbAuditRetentionDays: defineSetting(integer(31, 3_650), {
    key: 'esb.audit_retention_days',
    env: 'SVC_ESB_AUDIT_RETENTION_DAYS',
    default: 90,
    doc: 'Number of days for which logged ESB calls are kept. Calls are deleted by month, when the newest call of a month exceeds this age.',
  }),
} as const
