// The external dependencies of a process, such as PostgreSQL, Redis, DNS and the clock. Tests replace some of
// them.
import { blobSettings } from './config/blob-settings.ts'
import { type Config, selectSettings } from './config/config.ts'
import { directorySettings } from './config/directory-settings.ts'
import type { Clock } from './platform/clock.ts'
import { type Database, createDatabase } from './platform/postgres/database.ts'
import { createDirectoryMetrics } from './platform/directory/directory-metrics.ts'
import {
  type UserDirectory,
  createLocalDirectory,
  createScimDirectory,
} from './platform/directory/directory.ts'
import { type LdapOptions, createLdapDirectory } from './platform/directory/ldap-directory.ts'
import type { Logger } from './platform/log/log.ts'
import { createLog, formatDroppedLinesNotice } from './platform/log/log.ts'
import { createLogOutput } from './platform/log/log-output.ts'
import { type Metrics, createMetrics } from './platform/metrics.ts'
import { type NameResolver, createNameResolver } from './platform/outbound/names.ts'
import { type CreateChannels, createChannelsFactory } from './platform/redis/channels.ts'
import { type Redis, type RedisOptions, createRedis } from './platform/redis/redis.ts'
import { createTopology } from './platform/redis/topology.ts'
import type { BlobStores } from './platform/blobs/blob-store.ts'
import { createBlobStores } from './platform/blobs/blob-stores.ts'
import { createKubernetesOrchestrator } from './platform/orchestrator/kubernetes.ts'
import { type Orchestrator, createNoOrchestrator } from './platform/orchestrator/orchestrator.ts'
import { version } from './version.ts'

export type World = {
  database: Database
  redis: Redis
  /** Creates the channels for messages between processes. */
  channels: CreateChannels
  clock: Clock
  directory: UserDirectory
  log: Logger
  metrics: Metrics
  /** DNS lookups for outbound calls. */
  nameResolver: NameResolver
  /** Storage of bundle content. */
  blobStores: BlobStores
  /** Runs the workloads of deployments. */
  orchestrator: Orchestrator
  /** The folder with the built console. */
  consoleFolder: string
}

const defaultConsoleFolder = new URL('../../console/dist/', import.meta.url).pathname

/** Creates the external dependencies from the configuration. Tests pass substitutes for some of them. */
export function createWorld(config: Config, substitutes: Partial<World> = {}): World {
  const metrics = substitutes.metrics ?? createMetrics(version)
  const log =
    substitutes.log ??
    createLog(
      config.logLevel,
      createLogOutput({
        onDropped: (count) => metrics.logLinesDropped.inc(count),
        formatDroppedNotice: formatDroppedLinesNotice,
      }),
    )
  const database =
    substitutes.database ??
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
  const nameResolver = substitutes.nameResolver ?? createNameResolver()
  const redis = substitutes.redis ?? createRedis(readRedisOptions(config), { log, metrics })
  return {
    log,
    metrics,
    database,
    redis,
    channels: substitutes.channels ?? createChannelsFactory({ redis, log }),
    clock: substitutes.clock ?? database.clock,
    nameResolver,
    blobStores: substitutes.blobStores ?? createConfiguredBlobStores(config, database, log),
    orchestrator: substitutes.orchestrator ?? createOrchestrator(config),
    consoleFolder: substitutes.consoleFolder ?? defaultConsoleFolder,
    directory: substitutes.directory ?? createDirectory(config, { database, log, metrics, nameResolver }),
  }
}

type DirectoryDeps = Pick<World, 'database' | 'log' | 'metrics' | 'nameResolver'>

/** Creates the configured user directory. The metrics of LDAP always exist, so that alerts detect their first increase. */
function createDirectory(
  config: Config,
  { database, log, metrics, nameResolver }: DirectoryDeps,
): UserDirectory {
  const directoryMetrics = createDirectoryMetrics(metrics)
  const factories: Record<Config['userProvider'], () => UserDirectory> = {
    local: () => createLocalDirectory(database.db),
    scim: () => createScimDirectory(database.db),
    ldap: () =>
      createLdapDirectory(readLdapOptions(config, nameResolver), { log, metrics: directoryMetrics }),
  }
  return factories[config.userProvider]()
}

function readLdapOptions(config: Config, nameResolver: NameResolver): LdapOptions {
  const ldap = selectSettings(config, directorySettings)
  const { ldapBindDn: dn, ldapBindPassword: password, ldapUrls: urls = [], ldapBaseDn: baseDn = '' } = ldap
  return {
    urls,
    encryption: { startTls: ldap.ldapStartTls, caFile: ldap.ldapCaBundle ?? null },
    account: dn === undefined || password === undefined ? null : { dn, password },
    baseDn,
    userFilter: ldap.ldapUserFilter,
    searchFilter: ldap.ldapSearchFilter ?? null,
    attributes: {
      id: ldap.ldapIdAttribute,
      username: ldap.ldapUsernameAttribute,
      email: ldap.ldapEmailAttribute,
      name: ldap.ldapNameAttribute,
      disabled: ldap.ldapDisabledAttribute ?? null,
    },
    maxResults: ldap.ldapMaxResults,
    maxConcurrent: ldap.ldapMaxConcurrent,
    connectTimeoutMs: ldap.ldapConnectTimeoutMs,
    lookup: nameResolver.createLookup('the user directory', 'directories'),
    requestTimeoutMs: ldap.ldapRequestTimeoutMs,
  }
}

/** Returns the Redis connection options from the configuration. */
export const readRedisOptions = (config: Config): RedisOptions => ({
  url: config.redisUrl,
  topology: createTopology(config),
  sentinelPassword: config.redisSentinelPassword,
  keyPrefix: config.redisKeyPrefix,
})

/** Creates the configured blob stores. Commands that need no other dependency call this function directly. */
export const createConfiguredBlobStores = (config: Config, database: Database, log: Logger): BlobStores =>
  createBlobStores({ ...readBlobStoreOptions(config), database, log })

/** Returns the primary blob store and the configured bucket, if any; throws if the S3 settings are incomplete. */
function readBlobStoreOptions(config: Config) {
  const { piletsStore: primary, ...s3 } = selectSettings(config, blobSettings)
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
function createOrchestrator(config: Config): Orchestrator {
  if (config.orchestratorKind === 'none' || !config.roles.includes('api')) return createNoOrchestrator()
  const { orchestratorServiceAccount: serviceAccountFolder, orchestratorApiServer: server } = config
  return createKubernetesOrchestrator({ server, serviceAccountFolder })
}

/** Closes the connections to all external dependencies. */
export async function closeWorld(world: World): Promise<void> {
  await world.orchestrator.close()
  await world.blobStores.close()
  await world.redis.close()
  await world.database.close()
}
