import { integer, defineSetting } from '../../config/readers.ts'

export const evidenceSettings = {
  authFailureRetentionDays: defineSetting(integer(31, 3_650), {
    key: 'evidence.auth_failure_retention_days',
    env: 'SVC_EVIDENCE_AUTH_FAILURE_RETENTION_DAYS',
    default: 400,
    doc: 'Days for which counts of failed authentications and lockouts are kept. Counts are deleted by month, when the last day of the month exceeds this age.',
  }),
} as const
