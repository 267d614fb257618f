import { integer, setting } from '../../config/readers.ts'

export const evidenceSettings = {
  authFailureRetentionDays: setting(integer(31, 3_650), {
    key: 'evidence.auth_failure_retention_days',
    env: 'SVC_EVIDENCE_AUTH_FAILURE_RETENTION_DAYS',
    default: 400,
    doc: 'Days for which counts of failed authentications and lockouts are kept. A whole month of counts is deleted when its last day is older than this.',
  }),
} as const
