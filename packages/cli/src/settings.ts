// Settings of one layer, over the API.
import { type CallOptions, type Connection, graphql } from '@manager/client'
import {
  deleteBackendSettingsDocument,
  deleteFrontendSettingsDocument,
  ensureTenant2ApplicationSettingsDocument,
  getSettingsDocument,
  listTenant2ApplicationsDocument,
  updateBackendModuleConfigDocument,
  updateFrontendModuleConfigDocument,
} from '@manager/client/documents'
import { Failure } from './failures.ts'
import type { Pair } from './field-options.ts'
import type { Row } from './output.ts'
import { problemOfDefaults } from './settings-defaults.ts'

/** Exactly one of them names the layer. */
export type Layer = { project?: string; tenant?: string; application?: string; tenant2application?: string }
export type Settings = Awaited<ReturnType<typeof readSettings>>
/** Pairs are put among those that are there; everything else takes the place of what is there. */
export type SettingsChange = {
  backend: { EnabledModules?: string[]; KeyValuePairs?: Pair[] }
  frontend: {
    EnabledThemes?: string[]
    DefaultTheme?: string
    EnabledLocales?: string[]
    DefaultLocale?: string
    KeyValuePairs?: Pair[]
  }
}

/** What the layer sets. */
export async function readSettings(connection: Connection, layer: Layer, { signal }: CallOptions) {
  const { settings } = await graphql(connection, getSettingsDocument, layer, { signal })
  return settings
}

/** The values of a layer, as people read them. */
export const valuesOfSettings = ({ backendSetting, frontendSetting }: Settings): Row => ({
  backend: backendSetting.moduleConfig,
  frontend: frontendSetting.moduleConfig,
})

/** Changes a layer, which inherits from others, the nearest first; answers what it then sets. */
export async function updateSettings(
  connection: Connection,
  layer: Layer,
  { backend, frontend, inherited = [], signal }: SettingsChange & { inherited?: Layer[] } & CallOptions,
): Promise<Settings> {
  const { backendSetting, frontendSetting } = await readSettings(connection, layer, { signal })
  const above = await Promise.all(inherited.map((one) => readSettings(connection, one, { signal })))
  const configs = above.map((one) => one.frontendSetting.moduleConfig)
  const problem = problemOfDefaults(frontend, frontendSetting.moduleConfig, configs)
  if (problem !== null) throw new Failure('usage', problem)
  if (Object.keys(backend).length > 0) {
    const input = withPairs(backend, backendSetting.moduleConfig.KeyValuePairs)
    const variables = { id: backendSetting.id, input }
    await graphql(connection, updateBackendModuleConfigDocument, variables, { signal })
  }
  if (Object.keys(frontend).length > 0) {
    const input = withPairs(frontend, frontendSetting.moduleConfig.KeyValuePairs)
    const variables = { id: frontendSetting.id, input }
    await graphql(connection, updateFrontendModuleConfigDocument, variables, { signal })
  }
  return readSettings(connection, layer, { signal })
}

const withPairs = <Change extends { KeyValuePairs?: Pair[] }>(
  change: Change,
  present: readonly Pair[],
): Change =>
  change.KeyValuePairs === undefined
    ? change
    : { ...change, KeyValuePairs: mergedPairs(present, change.KeyValuePairs) }

/** The pairs that are there, with the given ones in their place or behind. */
function mergedPairs(present: readonly Pair[], given: readonly Pair[]): Pair[] {
  const byKey = new Map([...present, ...given].map(({ Key, Value }) => [Key, Value]))
  return [...byKey].map(([Key, Value]) => ({ Key, Value }))
}

/** Empties a layer. */
export async function clearSettings(
  connection: Connection,
  layer: Layer,
  { signal }: CallOptions,
): Promise<void> {
  const { backendSetting, frontendSetting } = await readSettings(connection, layer, { signal })
  await graphql(connection, deleteBackendSettingsDocument, { id: backendSetting.id }, { signal })
  await graphql(connection, deleteFrontendSettingsDocument, { id: frontendSetting.id }, { signal })
}

export type TenantApp = { tenant: string; app: string }

/** The row of an app in a tenant, or null. */
export async function findTenantApp(
  connection: Connection,
  { tenant, app }: TenantApp,
  { signal }: CallOptions,
) {
  const variables = { applicationId: app, tenantId: tenant }
  const answer = await graphql(connection, listTenant2ApplicationsDocument, variables, { signal })
  return answer.tenant2Applications[0] ?? null
}

/** The same; throws when there is none. */
export async function getTenantApp(connection: Connection, pair: TenantApp, options: CallOptions) {
  const row = await findTenantApp(connection, pair, options)
  if (row !== null) return row
  throw new Failure(
    'notFound',
    'The tenant does not have the app. Give it: svc apps enable <app> --tenant <tenant>',
  )
}

/** Makes the most specific layer where it is not there yet. */
export const ensureLeaf = (connection: Connection, tenant2ApplicationId: string, { signal }: CallOptions) =>
  graphql(connection, ensureTenant2ApplicationSettingsDocument, { tenant2ApplicationId }, { signal })
