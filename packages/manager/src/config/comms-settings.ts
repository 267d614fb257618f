// The setting that notifications, inboxes and live sockets share. The other settings of each feature are in its folder.
import { integer, defineSetting } from './readers.ts'

export const commsSettings = {
  commsRetentionDays: defineSetting(integer(31, 3_650), {
    key: 'comms.retention_days',
    env: 'SVC_COMMS_RETENTION_DAYS',
    default: 90,
    doc: 'Retention in days of notifications without an earlier `expires_at`.',
  }),
} as const
