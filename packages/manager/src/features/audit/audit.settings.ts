// The settings of the audit trail.
import { integer, oneOf, setting, text, url } from '../../config/readers.ts'

export const auditSettings = {
  checkpointIntervalMs: setting(integer(100, 3_600_000), {
    key: 'audit.checkpoint_interval_ms',
    env: 'SVC_AUDIT_CHECKPOINT_INTERVAL_MS',
    default: 60_000,
    doc: 'How often the heads of the audit chains that moved are sealed by a signed checkpoint.',
  }),
  verifyIntervalMs: setting(integer(100, 3_600_000), {
    key: 'audit.verify_interval_ms',
    env: 'SVC_AUDIT_VERIFY_INTERVAL_MS',
    default: 60_000,
    doc: 'How often what is new in the audit trail is verified, and a slice of what is old again.',
  }),
  verifyNewRows: setting(integer(100, 10_000_000), {
    key: 'audit.verify_new_rows',
    env: 'SVC_AUDIT_VERIFY_NEW_ROWS',
    default: 100_000,
    doc: 'New audit rows that one run verifies at most; the next run goes on.',
  }),
  verifyOldRows: setting(integer(100, 10_000_000), {
    key: 'audit.verify_old_rows',
    env: 'SVC_AUDIT_VERIFY_OLD_ROWS',
    default: 20_000,
    doc: 'Audit rows that one run verifies again: 20,000 a minute are 29 million a day.',
  }),
  checkpointSink: setting(oneOf('log', 's3'), {
    key: 'audit.checkpoint_sink',
    env: 'SVC_AUDIT_CHECKPOINT_SINK',
    default: 'log',
    doc: 'Where copies of checkpoints go: `log`, the log stream alone, or `s3`, a bucket too.',
  }),
  checkpointS3Endpoint: setting(url('http', 'https'), {
    key: 'audit.checkpoint_s3_endpoint',
    env: 'SVC_AUDIT_CHECKPOINT_S3_ENDPOINT',
    optional: true,
    doc: 'Address of an S3-compatible service that knows conditional puts; without it the bucket is at AWS.',
  }),
  checkpointS3Region: setting(text(100), {
    key: 'audit.checkpoint_s3_region',
    env: 'SVC_AUDIT_CHECKPOINT_S3_REGION',
    default: 'us-east-1',
    doc: 'Region of the bucket.',
  }),
  checkpointS3Bucket: setting(text(255), {
    key: 'audit.checkpoint_s3_bucket',
    env: 'SVC_AUDIT_CHECKPOINT_S3_BUCKET',
    optional: true,
    doc: 'The bucket; needed for `audit.checkpoint_sink: s3`. Best one that nobody who owns the database can delete from.',
  }),
  checkpointS3Prefix: setting(text(500), {
    key: 'audit.checkpoint_s3_prefix',
    env: 'SVC_AUDIT_CHECKPOINT_S3_PREFIX',
    default: 'audit-checkpoints/',
    doc: 'Begins the key of every object; number and hash of the checkpoint follow. Objects are written once and never changed.',
  }),
  checkpointS3AccessKeyId: setting(text(200), {
    key: 'audit.checkpoint_s3_access_key_id',
    env: 'SVC_AUDIT_CHECKPOINT_S3_ACCESS_KEY_ID',
    optional: true,
    doc: 'Access key of the bucket; without it credentials are looked for as AWS tools do (environment, files, role of the machine).',
  }),
  checkpointS3SecretAccessKey: setting(text(200), {
    key: 'audit.checkpoint_s3_secret_access_key',
    env: 'SVC_AUDIT_CHECKPOINT_S3_SECRET_ACCESS_KEY',
    secret: true,
    optional: true,
    doc: 'Secret of the access key.',
  }),
} as const
