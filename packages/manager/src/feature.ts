// Each feature has one definition in its index.ts. The definition contains everything that is known before
// the service runs, and `create` builds the rest. A new feature needs a folder, a line in app.ts and its
// permissions.
import type { Config } from './config/config.ts'
import type { RoleName, SettingsTable } from './config/readers.ts'
import type { ConstraintMeanings } from './platform/postgres/db-errors.ts'
import type { Links } from './platform/graphql/links.ts'
import type { ResolverMap } from './platform/graphql/schema.ts'
import type { ApiServer } from './platform/http/declarations.ts'
import type { Schedule } from './platform/jobs/schedules.ts'
import type { Queue } from './platform/jobs/worker.ts'
import type { SealedColumns } from './platform/secrets/sealed-columns.ts'
import type { Scopes } from './policy/scopes.ts'

/** The parts of a feature in a running service. */
type Feature<Api = unknown> = {
  resolvers?: ResolverMap
  /** Resolvers of `@link` fields, through which other types of the schema refer to types of this feature. */
  links?: Links
  /** Registers the REST routes of the feature. Each route declares its policy. */
  routes?: (server: ApiServer) => void
  schedules?: readonly Schedule[]
  /** Handlers of durable jobs. A migration creates the queues themselves. */
  queues?: readonly Queue[]
  /** Stops timers and threads, and flushes buffered writes. Called when no request is in flight. */
  close?: () => Promise<void>
  /** The few functions that other features may call. */
  api: Api
}

export type FeatureDefinition<Name extends string = string, Deps = never, Api = unknown> = {
  /** The property under which later features receive the `api` of this feature. */
  name: Name
  sdl?: string
  /** The role of the processes that serve the routes. Without a role, every process serves them. */
  role?: RoleName
  /** Settings of the feature. src/settings.ts also lists them, for commands. */
  settings?: SettingsTable
  /**
   * Returns the addresses of the installation's own services in the settings. Outbound calls must not reach
   * them.
   */
  ownServices?: (config: Config) => readonly string[]
  /** Maximum number of open sockets of a process that serves this feature. */
  maxSockets?: (config: Config) => number
  /** Lookups for the object kinds of this feature that policies can name (`@can(in: …)`). */
  scopes?: Scopes
  /** Errors that callers receive when a constraint of this feature is violated. */
  constraints?: ConstraintMeanings
  /** Columns that contain sealed secrets. */
  sealedColumns?: readonly SealedColumns[]
  create(this: void, deps: Deps): Feature<Api>
}

/** Returns the definition unchanged, with its name, dependencies and API as inferred types. */
export const defineFeature = <const Name extends string, Deps, Api>(
  definition: FeatureDefinition<Name, Deps, Api>,
): FeatureDefinition<Name, Deps, Api> => definition

/** The APIs of a list of features, by feature name. */
export type Apis<List extends readonly FeatureDefinition[]> = {
  [Definition in List[number] as Definition['name']]: ReturnType<Definition['create']>['api']
}

/**
 * `'complete'` if `Given` and the features above provide the dependencies of every feature. Otherwise a
 * string that names the first failure.
 */
export type DependencyOrder<List extends readonly FeatureDefinition[], Given> = List extends readonly [
  infer First extends FeatureDefinition,
  ...infer Rest extends readonly FeatureDefinition[],
]
  ? Given extends Parameters<First['create']>[0]
    ? DependencyOrder<Rest, Given & Apis<[First]>>
    : `${First['name']} depends on a feature that is listed below it in app.ts`
  : 'complete'

/** Requirements of the features. The process must know them before it creates the features. */
export type FeatureRequirements = { ownServices: readonly string[]; maxSockets: number }

/** Adds up the requirements of the features that this process serves. */
export function collectFeatureRequirements(
  list: readonly FeatureDefinition[],
  config: Config,
): FeatureRequirements {
  const servedFeatures = list.filter(({ role }) => role === undefined || config.roles.includes(role))
  const socketLimits = servedFeatures.map(({ maxSockets }) => maxSockets?.(config) ?? 0)
  return {
    ownServices: list.flatMap(({ ownServices }) => ownServices?.(config) ?? []),
    maxSockets: socketLimits.reduce((sum, count) => sum + count, 0),
  }
}

/**
 * Throws unless `listed` contains the settings of every feature: a setting that is not listed cannot be configured.
 */
export function assertSettingsListed(
  list: readonly FeatureDefinition[],
  listedSettings: SettingsTable,
): void {
  for (const { name, settings = {} } of list)
    for (const [key, item] of Object.entries(settings))
      if (listedSettings[key] !== item)
        throw new Error(
          `src/settings.ts does not list the setting ${key} of the feature ${name}; add it there`,
        )
}

export type CreatedFeature = FeatureDefinition & Feature

/** Creates the features in order. Each receives `given` and the APIs of the features above it. */
export function createFeatures<const List extends readonly FeatureDefinition[]>(
  list: List,
  sharedDeps: object,
): { features: CreatedFeature[]; apis: Apis<List> } {
  const apis: Record<string, unknown> = {}
  const features = list.map((definition) => {
    // A duplicate name would hide a dependency of later features.
    if (definition.name in sharedDeps || definition.name in apis)
      throw new Error(`the feature name ${definition.name} is already in use`)
    const feature = definition.create({ ...sharedDeps, ...apis } as never)
    apis[definition.name] = feature.api
    return { ...definition, ...feature }
  })
  return { features, apis: apis as Apis<List> }
}
