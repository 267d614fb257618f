import type { KeyObject } from 'node:crypto'
import type { ValuesOf } from '../../config/readers.ts'
import { createCheckpointCopies } from '../../platform/audit/checkpoint-copies.ts'
import { createQuery } from '../../platform/audit/rows.ts'
import type { S3Settings } from '../../platform/blobs/s3-client.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import type { Logger } from '../../platform/log/log.ts'
import type { AuditMetrics } from './audit.metrics.ts'
import type { auditSettings } from './audit.settings.ts'

type CopiesDeps = {
  db: Db
  log: Logger
  metrics: AuditMetrics
  macKey: KeyObject
  settings: ValuesOf<typeof auditSettings>
  /** Throws if the database was created with a different master key. */
  assertMasterKey: () => Promise<void>
}

/**
 * Copies checkpoints to the bucket. Returns null if no bucket is configured. Writing a checkpoint does not wait for its
 * copy.
 */
export function createCopiesService({ db, log, metrics, macKey, ...deps }: CopiesDeps) {
  const settings = readBucketSettings(deps.settings)
  if (settings === null) return null
  const copies = createCheckpointCopies({ query: createQuery(db.idempotent), macKey, settings, log })
  let lag: number | null = null
  metrics.watchSinkLag(() => lag)
  return {
    run: async (signal?: AbortSignal): Promise<void> => {
      await deps.assertMasterKey()
      try {
        await copies.copy(signal)
      } finally {
        lag = await copies.countMissingCopies()
      }
    },
    close: () => copies.close(),
  }
}

function readBucketSettings(settings: CopiesDeps['settings']): S3Settings | null {
  if (settings.checkpointSink !== 's3') return null
  const { checkpointS3Bucket: bucket, checkpointS3AccessKeyId: accessKeyId } = settings
  const { checkpointS3SecretAccessKey: secretAccessKey } = settings
  if (bucket === undefined)
    throw new Error(
      'audit.checkpoint_sink is s3: set audit.checkpoint_s3_bucket (SVC_AUDIT_CHECKPOINT_S3_BUCKET)',
    )
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined))
    throw new Error(
      'set both audit.checkpoint_s3_access_key_id and audit.checkpoint_s3_secret_access_key, or neither',
    )
  return {
    endpoint: settings.checkpointS3Endpoint ?? null,
    region: settings.checkpointS3Region,
    bucket,
    prefix: settings.checkpointS3Prefix,
    credentials:
      accessKeyId === undefined || secretAccessKey === undefined ? null : { accessKeyId, secretAccessKey },
  }
}
