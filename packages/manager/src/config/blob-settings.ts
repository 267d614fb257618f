// Where the bytes of bundles are kept. The stores are outside of the process (world.ts), so no feature has these settings.
import { oneOf, setting, text, url } from './readers.ts'

export const blobSettings = {
  piletsStore: setting(oneOf('postgres', 's3'), {
    key: 'pilets.store',
    env: 'SVC_PILETS_STORE',
    default: 'postgres',
    doc: 'Where the bytes of new bundles are kept: `postgres`, in the database, or `s3`, in a bucket. Bundles that are stored already stay where they are.',
  }),
  piletsS3Endpoint: setting(url('http', 'https'), {
    key: 'pilets.s3_endpoint',
    env: 'SVC_PILETS_S3_ENDPOINT',
    optional: true,
    doc: 'Address of an S3-compatible service; without it the bucket is at AWS. A service at its own address is asked in path style.',
  }),
  piletsS3Region: setting(text(100), {
    key: 'pilets.s3_region',
    env: 'SVC_PILETS_S3_REGION',
    default: 'us-east-1',
    doc: 'Region of the bucket.',
  }),
  piletsS3Bucket: setting(text(255), {
    key: 'pilets.s3_bucket',
    env: 'SVC_PILETS_S3_BUCKET',
    optional: true,
    doc: 'The bucket; needed for `pilets.store: s3`, and for as long as bundles are in it.',
  }),
  piletsS3Prefix: setting(text(500), {
    key: 'pilets.s3_prefix',
    env: 'SVC_PILETS_S3_PREFIX',
    default: 'pilets/',
    doc: 'Begins the key of every object; the SHA-256 of its bytes and an id follow. Two installations that share a bucket need two prefixes.',
  }),
  piletsS3AccessKeyId: setting(text(200), {
    key: 'pilets.s3_access_key_id',
    env: 'SVC_PILETS_S3_ACCESS_KEY_ID',
    optional: true,
    doc: 'Access key of the bucket; without it credentials are looked for as AWS tools do (environment, files, role of the machine).',
  }),
  piletsS3SecretAccessKey: setting(text(200), {
    key: 'pilets.s3_secret_access_key',
    env: 'SVC_PILETS_S3_SECRET_ACCESS_KEY',
    secret: true,
    optional: true,
    doc: 'Secret of the access key.',
  }),
} as const
