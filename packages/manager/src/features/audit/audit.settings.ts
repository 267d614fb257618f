import { integer, oneOf, defineSetting, text, url } from '../../config/readers.ts'

export const auditSettings = {
  checkpointIntervalMs: defineSetting(integer(100, 3_600_000), {
    key: 'audit.checkpoint_interval_ms',
    env: 'SVC_AUDIT_CHECKPOINT_INTERVAL_MS',
    default: 60_000,
    doc: 'Interval at which a signed checkpoint seals the heads of the audit chains that have new rows.',
  }),
  verifyIntervalMs: defineSetting(integer(100, 3_600_000), {
    key: 'audit.verify_interval_ms',
    env: 'SVC_AUDIT_VERIFY_INTERVAL_MS',
    default: 60_000,
    doc: 'Interval at which the Manager verifies new audit rows and verifies some of the old rows again.',
  }),
  verifyNewRows: defineSetting(integer(100, 10_000_000), {
    key: 'audit.verify_new_rows',
    env: 'SVC_AUDIT_VERIFY_NEW_ROWS',
    default: 100_000,
    doc: 'Maximum number of new audit rows that one run verifies. The next run continues with the remaining rows.',
  }),
  verifyOldRows: defineSetting(integer(100, 10_000_000), {
    key: 'audit.verify_old_rows',
    env: 'SVC_AUDIT_VERIFY_OLD_ROWS',
    default: 20_000,
    doc: 'Number of old audit rows that one run verifies again. With the defaults, this is 20,000 rows per minute, or 29 million rows per day.',
  }),
  checkpointSink: defineSetting(oneOf('log', 's3'), {
    key: 'audit.checkpoint_sink',
    env: 'SVC_AUDIT_CHECKPOINT_SINK',
    default: 'log',
    doc: 'Destination for copies of checkpoints: `log` writes them only to the log stream, `s3` also writes them to a bucket.',
  }),
  checkpointS3Endpoint: defineSetting(url('http', 'https'), {
    key: 'audit.checkpoint_s3_endpoint',
    env: 'SVC_AUDIT_CHECKPOINT_S3_ENDPOINT',
    optional: true,
    doc: 'Address of an S3-compatible service that supports conditional PUT. Without it, the bucket is on AWS.',
  }),
  checkpointS3Region: defineSetting(text(100), {
    key: 'audit.checkpoint_s3_region',
    env: 'SVC_AUDIT_CHECKPOINT_S3_REGION',
    default: 'us-east-1',
    doc: 'Region of the bucket.',
  }),
  checkpointS3Bucket: defineSetting(text(255), {
    key: 'audit.checkpoint_s3_bucket',
    env: 'SVC_AUDIT_CHECKPOINT_S3_BUCKET',
    optional: true,
    doc: 'Bucket for checkpoints; required with `audit.checkpoint_sink: s3`. Choose a bucket in which the owners of the database cannot delete objects.',
  }),
  checkpointS3Prefix: defineSetting(text(500), {
    key: 'audit.checkpoint_s3_prefix',
    env: 'SVC_AUDIT_CHECKPOINT_S3_PREFIX',
    default: 'audit-checkpoints/',
    doc: 'Prefix of every object key. The number and the hash of the checkpoint follow it. Objects are written once and never changed.',
  }),
  checkpointS3AccessKeyId: defineSetting(text(200), {
    key: 'audit.checkpoint_s3_access_key_id',
    env: 'SVC_AUDIT_CHECKPOINT_S3_ACCESS_KEY_ID',
    optional: true,
    doc: 'Access key id for the bucket. Without it, the default AWS credential chain applies (environment, files, instance role).',
  }),
  checkpointS3SecretAccessKey: defineSetting(text(200), {
    key: 'audit.checkpoint_s3_secret_access_key',
    env: 'SVC_AUDIT_CHECKPOINT_S3_SECRET_ACCESS_KEY',
    secret: true,
    optional: true,
    doc: 'Secret access key for the bucket.',
  }),
} as const
