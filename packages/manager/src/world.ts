// Everything outside the process. Tests replace only parts of it.
import { blobSettings } from './config/blob-settings.ts'
import { type Config, settingsOf } from './config/config.ts'
import type { Clock } from './platform/clock.ts'
import { type Database, createDatabase } from './platform/postgres/database.ts'
import { type UserDirectory, createLocalDirectory } from './platform/directory/directory.ts'
import type { Logger } from './platform/log/log.ts'
import { createLog, droppedNotice } from './platform/log/log.ts'
import { createLogOutput } from './platform/log/log-output.ts'
import { type Metrics, createMetrics } from './platform/metrics.ts'
import { type Names, createNames } from './platform/outbound/names.ts'
import { type CreateChannels, channelsOf } from './platform/redis/channels.ts'
import { type Redis, type RedisOptions, createRedis } from './platform/redis/redis.ts'
import { topologyOf } from './platform/redis/topology.ts'
import type { BlobStores } from './platform/blobs/blob-store.ts'
import { createBlobStores } from './platform/blobs/blob-stores.ts'
import { createKubernetesOrchestrator } from './platform/orchestrator/kubernetes.ts'
import { type Orchestrator, createNoOrchestrator } from './platform/orchestrator/orchestrator.ts'
import { version } from './version.ts'

export type World = {
  database: Database
  redis: Redis
  /** Messages between processes. */
  channels: CreateChannels
  clock: Clock
  directory: UserDirectory
  log: Logger
  metrics: Metrics
  /** DNS lookups for outbound calls. */
  names: Names
  /** Storage of bundle contents. */
  blobStores: BlobStores
  /** Runs the workloads of deployments. */
  orchestrator: Orchestrator
}

const directories = { local: createLocalDirectory }

/** Creates the real world from the configuration; tests replace single parts with `replace`. */
export function createWorld(config: Config, replace: Partial<World> = {}): World {
  const metrics = replace.metrics ?? createMetrics(version)
  const log =
    replace.log ??
    createLog(
      config.logLevel,
      createLogOutput({
        onDropped: (count) => metrics.logLinesDropped.inc(count),
        formatDroppedNotice: droppedNotice,
      }),
    )
  const database =
    replace.database ??
    createDatabase({
      url: config.databaseUrl,
      poolSize: config.databasePoolSize,
      lookupPoolSize: config.databaseLookupPoolSize,
      reportPoolSize: config.databaseReportPoolSize,
      statementTimeoutMs: config.databaseStatementTimeoutMs,
      acquireTimeoutMs: config.databaseAcquireTimeoutMs,
      maxWaiting: config.databaseMaxWaiting,
      onRefused: () => metrics.shed.inc({ point: 'db_pool' }),
      onStatementTime: metrics.observeStatement,
      onRetry: (kind) => metrics.dbRetries.inc({ kind }),
      log,
    })
  const redis = replace.redis ?? createRedis(redisOptions(config), { log, metrics })
  return {
    log,
    metrics,
    database,
    redis,
    channels: replace.channels ?? channelsOf({ redis, log }),
    clock: replace.clock ?? database.clock,
    names: replace.names ?? createNames(),
    blobStores: replace.blobStores ?? blobStoresOf(config, database, log),
    orchestrator: replace.orchestrator ?? orchestratorOf(config),
    directory: replace.directory ?? directories[config.userProvider](database.db),
  }
}

/** Returns the Redis connection options from the configuration. */
export const redisOptions = (config: Config): RedisOptions => ({
  url: config.redisUrl,
  topology: topologyOf(config),
  sentinelPassword: config.redisSentinelPassword,
  keyPrefix: config.redisKeyPrefix,
})

/** Creates the configured blob stores; commands use them without the rest of the world. */
export const blobStoresOf = (config: Config, database: Database, log: Logger): BlobStores =>
  createBlobStores({ ...blobStoreOptions(config), database, log })

/** Returns the primary blob store and the configured bucket, if any; throws if the S3 settings are incomplete. */
function blobStoreOptions(config: Config) {
  const { piletsStore: primary, ...s3 } = settingsOf(config, blobSettings)
  const { piletsS3Bucket: bucket, piletsS3AccessKeyId: accessKeyId, piletsS3SecretAccessKey: secret } = s3
  if (bucket === undefined) {
    if (primary === 's3') throw new Error('pilets.store is s3: set pilets.s3_bucket (SVC_PILETS_S3_BUCKET)')
    return { primary, s3: null }
  }
  if ((accessKeyId === undefined) !== (secret === undefined))
    throw new Error('set both pilets.s3_access_key_id and pilets.s3_secret_access_key, or neither')
  return {
    primary,
    s3: {
      endpoint: s3.piletsS3Endpoint ?? null,
      region: s3.piletsS3Region,
      bucket,
      prefix: s3.piletsS3Prefix,
      credentials:
        accessKeyId === undefined || secret === undefined ? null : { accessKeyId, secretAccessKey: secret },
    },
  }
}

/** Only processes with role `api` get an orchestrator: pods of other roles have no service account token. */
function orchestratorOf(config: Config): Orchestrator {
  if (config.orchestratorKind === 'none' || !config.roles.includes('api')) return createNoOrchestrator()
  const { orchestratorServiceAccount: serviceAccountFolder, orchestratorApiServer: server } = config
  return createKubernetesOrchestrator({ server, serviceAccountFolder })
}

/** Closes all connections of the world. */
export async function closeWorld(world: World): Promise<void> {
  await world.orchestrator.close()
  await world.blobStores.close()
  await world.redis.close()
  await world.database.close()
}
