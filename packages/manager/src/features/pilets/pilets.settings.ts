// The settings of pilets: how large they may be, and where their bytes are kept.
import { duration, integer, oneOf, setting, text, url } from '../../config/readers.ts'
import { storeNames } from '../../platform/blobs/blob-store.ts'

const mebibyte = 1_048_576

export const piletSettings = {
  piletsMaxUploadBytes: setting(integer(1_024, 64 * mebibyte), {
    key: 'pilets.max_upload_bytes',
    env: 'SVC_PILETS_MAX_UPLOAD_BYTES',
    default: 16 * mebibyte,
    doc: 'The largest bundle that can be uploaded; a larger one is answered 413.',
  }),
  piletsMaxProjectBytes: setting(integer(1_024, Number.MAX_SAFE_INTEGER), {
    key: 'pilets.max_project_bytes',
    env: 'SVC_PILETS_MAX_PROJECT_BYTES',
    default: 10_240 * mebibyte,
    doc: 'What all versions of all pilets of a project may come to; an upload beyond it is answered 413.',
  }),
  piletsMaxProjectPackages: setting(integer(1, 10_000_000), {
    key: 'pilets.max_project_packages',
    env: 'SVC_PILETS_MAX_PROJECT_PACKAGES',
    default: 100_000,
    doc: 'How many versions of pilets a project may have, all of them together; an upload beyond it is answered 413.',
  }),
  piletsUploadMemoryBytes: setting(integer(1_024, 4_096 * mebibyte), {
    key: 'pilets.upload_memory_bytes',
    env: 'SVC_PILETS_UPLOAD_MEMORY_BYTES',
    default: 64 * mebibyte,
    doc: 'What this process holds of uploads that are under way, shared fairly between projects and clients; further ones wait shortly and are answered 503 with `Retry-After`. At least twice `pilets.max_upload_bytes`.',
  }),
  piletsSendMemoryBytes: setting(integer(1_024, 65_536 * mebibyte), {
    key: 'pilets.send_memory_bytes',
    env: 'SVC_PILETS_SEND_MEMORY_BYTES',
    default: 128 * mebibyte,
    doc: 'What this process holds of bundles that are being sent, shared fairly between projects and clients; a bundle counts once, however many load it. Further ones wait shortly and are answered 503 with `Retry-After`. At least twice `pilets.max_upload_bytes`.',
  }),
  piletsCacheBytes: setting(integer(0, 65_536 * mebibyte), {
    key: 'pilets.cache_bytes',
    env: 'SVC_PILETS_CACHE_BYTES',
    default: 64 * mebibyte,
    doc: 'Bundles this process keeps in memory; those that were asked for last stay.',
  }),
  piletsStore: setting(oneOf(...storeNames), {
    key: 'pilets.store',
    env: 'SVC_PILETS_STORE',
    default: 'postgres',
    doc: 'Where the bytes of new bundles are kept: `postgres`, in the database, or `s3`, in a bucket. Bundles that are stored already stay where they are.',
  }),
  piletsOrphanGraceMs: setting(duration(1_000, 30 * 86_400_000), {
    key: 'pilets.orphan_grace',
    env: 'SVC_PILETS_ORPHAN_GRACE',
    default: 3_600_000,
    doc: 'How long bytes that no pilet refers to are kept, such as those of an upload that was interrupted.',
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
