// What a feature is: one definition in its index.ts. What is known without a running service is in the definition;
// `create` makes the rest. Adding a feature adds its folder, a line in app.ts and its permissions.
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

/** What a feature brings to a running service. */
type Feature<Api = unknown> = {
  resolvers?: ResolverMap
  /** How other types of the schema lead to the types of this feature (`@link`). */
  links?: Links
  /** Registers the feature's REST routes; each declares its policy. */
  routes?: (server: ApiServer) => void
  schedules?: readonly Schedule[]
  /** Durable jobs and who works on them; the queues themselves come with a migration. */
  queues?: readonly Queue[]
  /** Stops timers and threads, and writes what is still buffered; called once no request is in flight. */
  close?: () => Promise<void>
  /** The handful of functions other features may call. */
  api: Api
}

export type FeatureDefinition<Name extends string = string, Deps = never, Api = unknown> = {
  /** The property under which features further down receive its `api`. */
  name: Name
  sdl?: string
  /** The role of the processes that serve its routes; without it every process does. */
  role?: RoleName
  /** Its own settings; src/settings.ts lists them too, for commands. */
  settings?: SettingsTable
  /** Addresses of the installation's own services that its settings name: no outbound call may reach them. */
  ownServices?: (config: Config) => readonly string[]
  /** How many sockets a process that serves it keeps open at most. */
  maxSockets?: (config: Config) => number
  /** How the things of this feature are found when a policy names them (`@can(in: …)`). */
  scopes?: Scopes
  /** What a violation of one of the feature's own constraints means to a caller. */
  constraints?: ConstraintMeanings
  /** Columns that hold sealed secrets. */
  sealedColumns?: readonly SealedColumns[]
  create(this: void, deps: Deps): Feature<Api>
}

/** Names the types of a definition. */
export const defineFeature = <const Name extends string, Deps, Api>(
  definition: FeatureDefinition<Name, Deps, Api>,
): FeatureDefinition<Name, Deps, Api> => definition

/** The api of every feature of a list, by name. */
export type Apis<List extends readonly FeatureDefinition[]> = {
  [Definition in List[number] as Definition['name']]: ReturnType<Definition['create']>['api']
}

/**
 * `'complete'` when every feature finds what it needs in `Given` and above itself; else the text says which does not.
 */
export type InOrder<List extends readonly FeatureDefinition[], Given> = List extends readonly [
  infer First extends FeatureDefinition,
  ...infer Rest extends readonly FeatureDefinition[],
]
  ? Given extends Parameters<First['create']>[0]
    ? InOrder<Rest, Given & Apis<[First]>>
    : `${First['name']} needs what does not stand above it`
  : 'complete'

/** What the process provides for features before they are created. */
export type FeatureNeeds = { ownServices: readonly string[]; maxSockets: number }

/** What the features of this process need. */
export function needsOf(list: readonly FeatureDefinition[], config: Config): FeatureNeeds {
  const served = list.filter(({ role }) => role === undefined || config.roles.includes(role))
  const sockets = served.map(({ maxSockets }) => maxSockets?.(config) ?? 0)
  return {
    ownServices: list.flatMap(({ ownServices }) => ownServices?.(config) ?? []),
    maxSockets: sockets.reduce((sum, count) => sum + count, 0),
  }
}

/** Throws unless `listed` holds the settings of every feature: what is missing there could not be configured. */
export function assertSettingsListed(list: readonly FeatureDefinition[], listed: SettingsTable): void {
  for (const { name, settings = {} } of list)
    for (const [key, item] of Object.entries(settings))
      if (listed[key] !== item) throw new Error(`src/settings.ts does not list the setting ${key} of ${name}`)
}

export type CreatedFeature = FeatureDefinition & Feature

/** Creates the features in their order; each receives `given` and the api of every feature above it. */
export function createFeatures<const List extends readonly FeatureDefinition[]>(
  list: List,
  given: object,
): { features: CreatedFeature[]; apis: Apis<List> } {
  const apis: Record<string, unknown> = {}
  const features = list.map((definition) => {
    // It would hide what the features below expect under this name.
    if (definition.name in given || definition.name in apis)
      throw new Error(`a feature cannot be called ${definition.name}: the name is taken`)
    const feature = definition.create({ ...given, ...apis } as never)
    apis[definition.name] = feature.api
    return { ...definition, ...feature }
  })
  return { features, apis: apis as Apis<List> }
}
