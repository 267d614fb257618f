// Dependencies that every feature can use: external dependencies, and objects that exist once per process.
import { availableParallelism } from 'node:os'
import { blobSettings } from './config/blob-settings.ts'
import { type Config, selectSettings } from './config/config.ts'
import { directorySettings } from './config/directory-settings.ts'
import type { FeatureRequirements } from './feature.ts'
import { createAudit } from './platform/audit/append.ts'
import { createActivity } from './platform/credentials/activity.ts'
import { createAuthFailures } from './platform/credentials/auth-failures.ts'
import { createKdf, hashIterations } from './platform/credentials/kdf.ts'
import { createVerifier } from './platform/credentials/verifier.ts'
import { jobConnections } from './platform/postgres/pools.ts'
import { createLookupRunner } from './platform/postgres/lookups.ts'
import { createProjectVersions } from './platform/postgres/project-version.ts'
import { createGate } from './platform/http/gate.ts'
import { countRedisConnections, createTopology } from './platform/redis/topology.ts'
import { readOpenFileLimit, divideConnections } from './platform/http/open-files.ts'
import { createReadiness } from './platform/http/readiness.ts'
import { createJobs } from './platform/jobs/jobs.ts'
import { type RetiredKeys, noRetiredKeys } from './platform/master-key/retired-keys.ts'
import { listOwnServices } from './platform/outbound/own-services.ts'
import { createEncryptionRing } from './platform/secrets/keys.ts'
import { createMasterKeyLock } from './platform/secrets/master-key.ts'
import { createSecrets } from './platform/secrets/secrets.ts'
import { type Tracing, noTracing } from './platform/tracing/tracing.ts'
import { version } from './version.ts'
import type { World } from './world.ts'

export type Deps = ReturnType<typeof createDeps>
export type DepsOptions = {
  retiredKeys?: RetiredKeys
  tracing?: Tracing
  /** Number of PBKDF2 iterations of a new hash. No setting changes it. Only tests use fewer iterations. */
  iterations?: number
}

/** Creates the dependencies of this process. Call it once per process; `closeDeps` closes them. */
export function createDeps(
  config: Config,
  world: World,
  needs: FeatureRequirements,
  options: DepsOptions = {},
) {
  const { clock, database, metrics } = world
  const { masterKey, encryptionKeys, kdfMaxQueue } = config
  const secrets = [config.proxySecret, config.proxySecretPrevious].filter((secret) => secret !== undefined)
  const kdfThreads = config.kdfThreads ?? Math.max(1, availableParallelism() - 1)
  const { retiredKeys = noRetiredKeys, iterations = hashIterations, tracing = noTracing } = options
  const kdf = createKdf({ threads: kdfThreads, maxQueue: kdfMaxQueue, metrics, iterations })
  return {
    ...world,
    config,
    db: database.db,
    lookUp: createLookupRunner(database.run),
    audit: createAudit(clock),
    authFailures: createAuthFailures(world),
    activity: createActivity({ run: database.runInBackground, log: world.log }),
    gate: createGate({ secrets, openForDevelopment: isEscapeHatchOpen(config), metrics }),
    readiness: createReadiness({ ...world, databaseUrl: config.databaseUrl, version }),
    shares: divideConnections(readOpenFileLimit(), {
      ...getConnectionNeeds(config, kdfThreads, world.blobStores.connections),
      maxSockets: needs.maxSockets,
    }),
    ownServices: listOwnServices(
      { ...config, optionalUrls: [...getOwnServiceUrls(config), ...needs.ownServices] },
      () => world.redis.masters(),
    ),
    readVersion: createProjectVersions(database),
    jobs: createJobs({ run: database.runForJobs }),
    kdf,
    verifier: createVerifier(kdf, metrics, config.maxRemembered),
    secrets: createSecrets(createEncryptionRing(masterKey, encryptionKeys)),
    tracing,
    lockMasterKey: createMasterKeyLock(masterKey),
    retiredKeys,
  }
}

export async function closeDeps({ activity, authFailures, kdf, tracing }: Deps): Promise<void> {
  await activity.close()
  await authFailures.close()
  await kdf.close()
  await tracing.close()
}

/**
 * Returns true in development without a proxy. Then the gate requires no secret, and anonymous requests act as an
 * administrator.
 */
export const isEscapeHatchOpen = ({ env, devUserOverride }: Config): boolean =>
  env === 'development' && devUserOverride

/**
 * Returns the configured addresses of the installation's own services. Outbound calls must not reach them.
 */
function getOwnServiceUrls(config: Config): string[] {
  const { piletsS3Endpoint } = selectSettings(config, blobSettings)
  const { ldapUrls = [] } = selectSettings(config, directorySettings)
  return [piletsS3Endpoint, config.tracingOtlpEndpoint, getApiServer(config), ...ldapUrls].filter(
    (url) => url !== undefined,
  )
}

const getApiServer = ({ orchestratorKind, orchestratorApiServer }: Config): string | undefined =>
  orchestratorKind === 'kubernetes' ? orchestratorApiServer : undefined

const [readinessConnections, renderThreads] = [1, 2]

/**
 * Returns the number of open files per consumer, and the configured limits on inbound and outbound
 * connections.
 */
const getConnectionNeeds = (config: Config, kdfThreads: number, blobStores: number) => ({
  database:
    config.databasePoolSize +
    config.databaseLookupPoolSize +
    config.databaseReportPoolSize +
    jobConnections +
    readinessConnections,
  redis: countRedisConnections(createTopology(config)),
  blobStores,
  directory: config.userProvider === 'ldap' ? selectSettings(config, directorySettings).ldapMaxConcurrent : 0,
  threads: kdfThreads + renderThreads,
  maxApi: config.maxConnections,
  maxOutbound: config.esbMaxConnections,
})
