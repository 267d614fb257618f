import { integer, defineSetting } from '../../config/readers.ts'

export const evidenceSettings = {
  authFailureRetentionDays: defineSetting(integer(31, 3_650), {
    key: 'evidence.auth_failure_retention_days',
    env: 'SVC_EVIDENCE_AUTH_FAILURE_RETENTION_DAYS',
    default: 400,
    doc: 'Number of days for which counts of failed authentications and lockouts are kept. The counts of a month are deleted together, when its last day exceeds this age.',
  }),
} as const
