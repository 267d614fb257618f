// The whole service on one page. A feature may use only what is above it; one that needs more does not compile.
import type { Config } from './config/config.ts'
import { type Deps, type DepsOptions, closeDeps, createDeps, isEscapeHatchOpen } from './deps.ts'
import { type InOrder, createFeatures } from './feature.ts'
import type { UsersApi } from './features/users/index.ts'
import { developmentIdentity } from './platform/http/identity.ts'
import type { ReadinessProbe } from './platform/http/readiness.ts'
import type { BackgroundWork } from './platform/jobs/start.ts'
import { loadTracing } from './platform/tracing/load-tracing.ts'
import { joinSealedColumns } from './platform/secrets/sealed-columns.ts'
import { type Transport, type TransportOptions, createTransport } from './transport.ts'
import type { World } from './world.ts'

const features = [
  (await import('./features/health/index.ts')).health,
  (await import('./features/call-log/index.ts')).callLog,
  (await import('./features/users/index.ts')).users,
  (await import('./features/environments/index.ts')).environments,
  (await import('./features/memberships/index.ts')).memberships,
  (await import('./features/projects/index.ts')).projects,
  (await import('./features/tenants/index.ts')).tenants,
  (await import('./features/applications/index.ts')).applications,
  (await import('./features/settings/index.ts')).settings,
  (await import('./features/language-packs/index.ts')).languagePacks,
  (await import('./features/pilets/index.ts')).pilets,
  (await import('./features/pilet-feed/index.ts')).piletFeed,
  (await import('./features/access-tokens/index.ts')).accessTokens,
  (await import('./features/cli-login/index.ts')).cliLogin,
  (await import('./features/machine-users/index.ts')).machineUsers,
  (await import('./features/backends/index.ts')).backends,
  (await import('./features/deployments/index.ts')).deployments,
  (await import('./features/transformations/index.ts')).transformations,
  (await import('./features/endpoints/index.ts')).endpoints,
  (await import('./features/triggers/index.ts')).triggers,
  (await import('./features/gateway/index.ts')).gateway,
  (await import('./features/comms/index.ts')).comms,
  (await import('./features/proxy-auth/index.ts')).proxyAuth,
  (await import('./features/audit/index.ts')).auditTrail,
  (await import('./features/evidence/index.ts')).evidence,
  (await import('./features/access-reviews/index.ts')).accessReviews,
] as const
'complete' satisfies InOrder<typeof features, Deps>

/** Every column that holds sealed secrets. */
export const sealedColumns = joinSealedColumns(features.map((feature) => feature.sealedColumns ?? []))

export type AppOptions = TransportOptions & DepsOptions
export type App = Transport & BackgroundWork & { readiness: ReadinessProbe }

/** Builds the service; throws when a route or a field has no policy, naming all of them. */
export async function createApp(
  config: Config,
  world: World,
  { retiredKeys, iterations, ...options }: AppOptions = {},
): Promise<App> {
  const tracing = await loadTracing(config, world)
  if (tracing.isOn) world.database.onStatementEnd((statement) => tracing.noteStatement(statement))
  const deps = createDeps(config, world, { retiredKeys, iterations, tracing })
  const { features: created, apis } = createFeatures(features, deps)
  const isHatchOpen = isEscapeHatchOpen(config)
  const transport = await createTransport(
    {
      deps,
      features: created,
      callers: {
        provision: apis.users.provision,
        tokenOwner: apis.accessTokens.authenticate,
        machineOf: apis.machineUsers.authenticate,
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
    schedules: created.flatMap((feature) => feature.schedules ?? []),
    queues: created.flatMap((feature) => feature.queues ?? []),
  }
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
