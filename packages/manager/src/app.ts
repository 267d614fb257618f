// The whole service on one page. A feature may use only what stands above it.
import {
  type Config,
  connectionNeeds,
  credentialOptions,
  gatewayLimits,
  outboundOptions,
  transformOptions,
} from './config.ts'
import type { Feature } from './feature.ts'
import { createAccessTokens } from './features/access-tokens/index.ts'
import { createApplications, createTenant2Applications } from './features/applications/index.ts'
import { createAuditTrail } from './features/audit/index.ts'
import { createEndpoints } from './features/endpoints/index.ts'
import { createEnvironments } from './features/environments/index.ts'
import { createEsbAuditLogReads, createEsbAuditLogs } from './features/esb-audit-logs/index.ts'
import { createGateway } from './features/gateway/index.ts'
import { createHealth } from './features/health/index.ts'
import { createLanguagePacks } from './features/language-packs/index.ts'
import { createMachineUsers } from './features/machine-users/index.ts'
import { createMemberships } from './features/memberships/index.ts'
import { createProjects } from './features/projects/index.ts'
import { createProxyAuth } from './features/proxy-auth/index.ts'
import { createSettings } from './features/settings/index.ts'
import { createTenants } from './features/tenants/index.ts'
import { type UsersApi, createUsers } from './features/users/index.ts'
import { createAudit } from './platform/audit/append.ts'
import { type CredentialParts, createCredentialParts } from './platform/credentials/parts.ts'
import { createProjectVersions } from './platform/db/project-version.ts'
import { type Gate, createGate } from './platform/http/gate.ts'
import { developmentIdentity } from './platform/http/identity.ts'
import { createSigningKey, deriveSecretKey, encryptionRing } from './platform/keys.ts'
import {
  type RetiredKeys,
  assertMasterKey,
  createHoldMasterKey,
  noRetiredKeys,
} from './platform/master-key.ts'
import { type ConnectionShares, openFileLimit, shareConnections } from './platform/open-files.ts'
import { createOutboundPools } from './platform/outbound/pools.ts'
import type { PeriodicJob } from './platform/periodic.ts'
import { type ReadinessProbe, createReadiness } from './platform/readiness.ts'
import { createSecrets } from './platform/secrets.ts'
import { type Callers, type Transport, type TransportOptions, createTransport } from './transport.ts'
import { version } from './version.ts'
import type { World } from './world.ts'

export type AppOptions = TransportOptions & { retiredKeys?: RetiredKeys }
export type App = Transport & { readiness: ReadinessProbe; jobs: PeriodicJob[] }

/** Builds the service; throws when a route or a field has no policy, naming all of them. */
export async function createApp(
  config: Config,
  world: World,
  { retiredKeys = noRetiredKeys, ...options }: AppOptions = {},
): Promise<App> {
  const isHatchOpen = config.env === 'development' && config.devUserOverride
  const secrets = [config.proxySecret, config.proxySecretPrevious].filter((secret) => secret !== undefined)
  const gate = createGate({ secrets, openForDevelopment: isHatchOpen, metrics: world.metrics })
  const shares = shareConnections(openFileLimit(), connectionNeeds(config))
  const readiness = createReadiness({
    databaseUrl: config.databaseUrl,
    database: world.database,
    redis: world.redis,
    log: world.log,
    version,
  })
  const credentials = createCredentialParts(credentialOptions(config), world)
  const { features, users, callers } = createFeatures(config, world, {
    gate,
    readiness,
    credentials,
    retiredKeys,
    shares,
  })
  const transport = await createTransport(
    {
      config,
      world,
      features,
      gate,
      readiness,
      callers,
      maxConnections: shares.api,
      close: () => credentials.close(),
    },
    isHatchOpen ? { ...options, fallbackIdentity: developmentIdentity } : options,
  )
  if (isHatchOpen) await openEscapeHatch(world, users)
  return { ...transport, readiness, jobs: features.flatMap((feature) => feature.jobs ?? []) }
}

type Edge = {
  gate: Gate
  readiness: ReadinessProbe
  credentials: CredentialParts
  retiredKeys: RetiredKeys
  shares: ConnectionShares
}

function createFeatures(config: Config, world: World, edge: Edge) {
  const { clock, database, directory, log, metrics } = world
  const { kdf, verifier, throttles } = edge.credentials
  const { db } = database
  const base = { db, audit: createAudit(clock) }

  const health = createHealth(edge)
  const esbAuditLogs = createEsbAuditLogs({
    db,
    database,
    log,
    metrics,
    retentionDays: config.esbAuditRetentionDays,
  })
  const users = createUsers({ ...base, directory })
  const environments = createEnvironments(base)
  const memberships = createMemberships({ ...base, users: users.api })
  const projects = createProjects({ ...base, environments: environments.api, memberships: memberships.api })
  const tenants = createTenants({ ...base, projects: projects.api, memberships: memberships.api })
  const applications = createApplications({
    ...base,
    projects: projects.api,
    countLoggedCalls: esbAuditLogs.api.countByApplication,
  })
  const tenant2Applications = createTenant2Applications(base)
  const prepared = {
    database,
    metrics,
    readVersion: createProjectVersions(database),
    maxBytes: config.maxPreparedBytes,
  }
  const settings = createSettings({
    ...base,
    ...prepared,
    tenant2Applications: tenant2Applications.api,
  })
  const languagePacks = createLanguagePacks({ ...base, ...prepared })
  const proof = { clock, database, kdf, log, metrics, verifier }
  const accessTokens = createAccessTokens({
    ...base,
    ...proof,
    users: users.api,
    forgeries: throttles.forgery,
    checkKey: deriveSecretKey(config.masterKey, 'access-token-check'),
    retiredCheckKeys: edge.retiredKeys.checkKeys,
  })
  const machineUsers = createMachineUsers({
    ...base,
    ...proof,
    throttle: throttles.machine,
    environments: environments.api,
    countServedRequests: esbAuditLogs.api.countByMachineUser,
  })
  const secrets = createSecrets(encryptionRing(config.masterKey, config.encryptionKeys))
  const endpoints = createEndpoints({
    ...base,
    applications: applications.api,
    machineUsers: machineUsers.api,
    secrets,
    holdMasterKey: createHoldMasterKey(config.masterKey),
    clock,
    countLoggedCalls: esbAuditLogs.api.countByEndpoint,
    transformOptions: transformOptions(config),
  })
  const esbAuditLogReads = createEsbAuditLogReads({
    db,
    applications: applications.api,
    endpoints: endpoints.api,
    machineUsers: machineUsers.api,
  })
  const gateway = createGateway({
    database,
    clock,
    metrics,
    secrets,
    maxPreparedBytes: config.maxPreparedBytes,
    callLog: esbAuditLogs.api.callLog,
    endpoints: endpoints.api,
    pools: createOutboundPools({
      ...outboundOptions(config),
      names: world.names,
      maxSockets: edge.shares.outbound,
    }),
    limits: gatewayLimits(config),
    // As of the connections to partners, nobody has more than half.
    maxCallsPerProject: Math.max(1, Math.floor(edge.shares.api / 2)),
  })
  const proxyAuth = createProxyAuth({
    ...proof,
    throttle: throttles.validate,
    guesses: throttles.basic,
    accessTokens: accessTokens.api,
    machineUsers: machineUsers.api,
    users: users.api,
  })
  const auditTrail = createAuditTrail({
    db,
    clock,
    log,
    metrics,
    users: users.api,
    checkpointKey: createSigningKey(config.masterKey, 'audit-checkpoint'),
    assertMasterKey: () => assertMasterKey(db, config.masterKey),
    checkpointIntervalMs: config.checkpointIntervalMs,
  })

  const features: Feature[] = [
    health,
    esbAuditLogs,
    users,
    environments,
    memberships,
    projects,
    tenants,
    applications,
    tenant2Applications,
    settings,
    languagePacks,
    accessTokens,
    machineUsers,
    endpoints,
    esbAuditLogReads,
    gateway,
    proxyAuth,
    auditTrail,
  ]
  const callers: Callers = {
    provision: users.api.provision,
    tokenOwner: accessTokens.api.authenticate,
    machineOf: machineUsers.api.authenticate,
  }
  return { features, users: users.api, callers }
}

/** Says loudly that the gate is open, and makes sure that the development administrator exists. */
async function openEscapeHatch(world: World, users: UsersApi): Promise<void> {
  world.metrics.devOverride.set(1)
  world.log.warn(
    'DEVELOPMENT ESCAPE HATCH IS OPEN: requests need no proxy secret and act as an administrator',
  )
  await users.provision(developmentIdentity)
  await users.grantAdministrator(developmentIdentity.subject)
}
