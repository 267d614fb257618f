import { integer, defineSetting } from '../../config/readers.ts'

export const callLogSettings = {
  esbAuditRetentionDays: defineSetting(integer(31, 3_650), {
    key: 'esb.audit_retention_days',
    env: 'SVC_ESB_AUDIT_RETENTION_DAYS',
    default: 90,
    doc: 'Number of days for which logged ESB calls are kept. The calls of a month are deleted together, when the newest of them exceeds this age.',
  }),
} as const
