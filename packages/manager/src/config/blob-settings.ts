// Settings for the storage of bundle content. No feature owns the stores: world.ts creates them.
import { oneOf, defineSetting, text, url } from './readers.ts'

export const blobSettings = {
  piletsStore: defineSetting(oneOf('postgres', 's3'), {
    key: 'pilets.store',
    env: 'SVC_PILETS_STORE',
    default: 'postgres',
    doc: 'Storage for the content of new bundles: `postgres` (the database) or `s3` (a bucket). Existing bundles are not moved.',
  }),
  piletsS3Endpoint: defineSetting(url('http', 'https'), {
    key: 'pilets.s3_endpoint',
    env: 'SVC_PILETS_S3_ENDPOINT',
    optional: true,
    doc: 'Address of an S3-compatible service. Without it, the bucket is on AWS. With it, requests use path-style addresses.',
  }),
  piletsS3Region: defineSetting(text(100), {
    key: 'pilets.s3_region',
    env: 'SVC_PILETS_S3_REGION',
    default: 'us-east-1',
    doc: 'Region of the bucket.',
  }),
  piletsS3Bucket: defineSetting(text(255), {
    key: 'pilets.s3_bucket',
    env: 'SVC_PILETS_S3_BUCKET',
    optional: true,
    doc: 'Name of the bucket. Required with `pilets.store: s3`, and as long as the bucket contains bundles.',
  }),
  piletsS3Prefix: defineSetting(text(500), {
    key: 'pilets.s3_prefix',
    env: 'SVC_PILETS_S3_PREFIX',
    default: 'pilets/',
    doc: 'Prefix of every object key. The SHA-256 of the content and an id follow it. Installations that share a bucket need different prefixes.',
  }),
  piletsS3AccessKeyId: defineSetting(text(200), {
    key: 'pilets.s3_access_key_id',
    env: 'SVC_PILETS_S3_ACCESS_KEY_ID',
    optional: true,
    doc: 'Access key id for the bucket. Without it, the default AWS credential chain applies (environment, files, instance role).',
  }),
  piletsS3SecretAccessKey: defineSetting(text(200), {
    key: 'pilets.s3_secret_access_key',
    env: 'SVC_PILETS_S3_SECRET_ACCESS_KEY',
    secret: true,
    optional: true,
    doc: 'Secret access key for the bucket.',
  }),
} as const
