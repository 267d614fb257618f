// This file assembles the service. A feature can use only the features listed above it; anything else does not compile.
import type { Config } from './config/config.ts'
import { type Deps, type DepsOptions, closeDeps, createDeps, isEscapeHatchOpen } from './deps.ts'
import {
  type DependencyOrder,
  assertSettingsListed,
  createFeatures,
  collectFeatureRequirements,
} from './feature.ts'
import { accessReviews } from './features/access-reviews/index.ts'
import { accessTokens } from './features/access-tokens/index.ts'
import { applications } from './features/applications/index.ts'
import { auditTrail } from './features/audit/index.ts'
import { backends } from './features/backends/index.ts'
import { callLog } from './features/call-log/index.ts'
import { cliLogin } from './features/cli-login/index.ts'
import { consoleApp } from './features/console/index.ts'
import { deployments } from './features/deployments/index.ts'
import { effectiveAccess } from './features/effective-access/index.ts'
import { endpoints } from './features/endpoints/index.ts'
import { environments } from './features/environments/index.ts'
import { evidence } from './features/evidence/index.ts'
import { gateway } from './features/gateway/index.ts'
import { groups } from './features/groups/index.ts'
import { health } from './features/health/index.ts'
import { inbox } from './features/inbox/index.ts'
import { invitations } from './features/invitations/index.ts'
import { languagePacks } from './features/language-packs/index.ts'
import { liveSockets } from './features/live-sockets/index.ts'
import { machineUsers } from './features/machine-users/index.ts'
import { memberships } from './features/memberships/index.ts'
import { notifications } from './features/notifications/index.ts'
import { piletFeed } from './features/pilet-feed/index.ts'
import { pilets } from './features/pilets/index.ts'
import { projects } from './features/projects/index.ts'
import { proxyAuth } from './features/proxy-auth/index.ts'
import { scim } from './features/scim/index.ts'
import { search } from './features/search/index.ts'
import { settings } from './features/settings/index.ts'
import { tenants } from './features/tenants/index.ts'
import { transformations } from './features/transformations/index.ts'
import { triggers } from './features/triggers/index.ts'
import { type UsersApi, users } from './features/users/index.ts'
import { developmentIdentity } from './platform/http/identity.ts'
import type { ReadinessProbe } from './platform/http/readiness.ts'
import type { BackgroundWork } from './platform/jobs/start.ts'
import { joinSealedColumns } from './platform/secrets/sealed-columns.ts'
import { loadTracing } from './platform/tracing/load-tracing.ts'
import { settings as listedSettings } from './settings.ts'
import { type Transport, type TransportOptions, createTransport } from './transport.ts'
import type { World } from './world.ts'

const features = [
  health,
  callLog,
  users,
  environments,
  memberships,
  groups,
  scim,
  projects,
  tenants,
  applications,
  invitations,
  settings,
  languagePacks,
  pilets,
  piletFeed,
  accessTokens,
  cliLogin,
  machineUsers,
  backends,
  deployments,
  transformations,
  endpoints,
  triggers,
  gateway,
  liveSockets,
  notifications,
  inbox,
  proxyAuth,
  auditTrail,
  evidence,
  accessReviews,
  effectiveAccess,
  search,
  consoleApp,
] as const
'complete' satisfies DependencyOrder<typeof features, Deps>
assertSettingsListed(features, listedSettings)

/** Every column that contains sealed secrets. */
export const sealedColumns = joinSealedColumns(features.map((feature) => feature.sealedColumns ?? []))

export type AppOptions = TransportOptions & DepsOptions
export type App = Transport & BackgroundWork & { readiness: ReadinessProbe }

/** Builds the service. If routes or fields have no policy, throws one error that names all of them. */
export async function createApp(
  config: Config,
  world: World,
  { retiredKeys, iterations, ...options }: AppOptions = {},
): Promise<App> {
  const tracing = await loadTracing(config, world)
  if (tracing.isOn) world.database.onStatementEnd((statement) => tracing.recordStatement(statement))
  const needs = collectFeatureRequirements(features, config)
  const deps = createDeps(config, world, needs, { retiredKeys, iterations, tracing })
  const { features: createdFeatures, apis } = createFeatures(features, deps)
  const isHatchOpen = isEscapeHatchOpen(config)
  const transport = await createTransport(
    {
      deps,
      features: createdFeatures,
      callers: {
        provision: apis.users.provision,
        authenticateToken: apis.accessTokens.authenticate,
        authenticateMachine: apis.machineUsers.authenticate,
        authenticateScim: apis.scim.authenticate,
      },
      close: () => closeDeps(deps),
    },
    isHatchOpen ? { ...options, fallbackIdentity: developmentIdentity } : options,
  )
  if (isHatchOpen) await openEscapeHatch(world, apis.users)
  const { readiness, jobs, log, metrics } = deps
  return {
    ...transport,
    readiness,
    jobs,
    log,
    metrics,
    schedules: createdFeatures.flatMap((feature) => feature.schedules ?? []),
    queues: createdFeatures.flatMap((feature) => feature.queues ?? []),
  }
}

/** Logs a warning that the gate is open, and ensures that the development administrator exists. */
async function openEscapeHatch(world: World, users: UsersApi): Promise<void> {
  world.metrics.devOverride.set(1)
  world.log.warn(
    'DEVELOPMENT ESCAPE HATCH IS OPEN: requests need no proxy secret and act as an administrator',
  )
  await users.provision(developmentIdentity)
  await users.grantAdministrator(developmentIdentity.subject)
}
