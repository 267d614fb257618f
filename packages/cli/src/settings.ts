// Settings of one layer, over the API.
import type { CallOptions, Connection } from '@manager/client'
import { Failure } from './failures.ts'
import type { Pair } from './field-options.ts'
import type { Row } from './output.ts'
import { ask } from './rows.ts'

/** Exactly one of them names the layer. */
export type Layer = { project?: string; tenant?: string; application?: string; tenant2application?: string }
type Part = { id: string; moduleConfig: Row & { KeyValuePairs: Pair[] } }
export type Settings = { backendSetting: Part; frontendSetting: Part }
/** Pairs are put among those that are there; everything else takes the place of what is there. */
export type SettingsChange = { backend: Row; frontend: Row }
type Sourced = { value: unknown; layer: string | null }
type EffectivePart = Record<string, Sourced> & { KeyValuePairs: (Pair & { layer: string })[] }
export type EffectiveSettings = { backend: EffectivePart; frontend: EffectivePart }

const backend = 'EnabledModules KeyValuePairs { Key Value }'
const frontend = 'EnabledThemes DefaultTheme EnabledLocales DefaultLocale KeyValuePairs { Key Value }'
const layerSelection = `backendSetting { id moduleConfig { ${backend} } } frontendSetting { id moduleConfig { ${frontend} } }`
const readDocument = `query Settings($project: ID, $tenant: ID, $application: ID, $tenant2application: ID) {
  settings(project: $project, tenant: $tenant, application: $application, tenant2application: $tenant2application) { ${layerSelection} } }`
const backendDocument = `mutation Backend($id: ID!, $input: UpdateBackendModuleConfigInput!) { done: updateBackendModuleConfig(id: $id, input: $input) { id } }`
const frontendDocument = `mutation Frontend($id: ID!, $input: UpdateFrontendModuleConfigInput!) { done: updateFrontendModuleConfig(id: $id, input: $input) { id } }`
const clearBackendDocument = 'mutation ClearBackend($id: ID!) { done: deleteBackendSettings(id: $id) }'
const clearFrontendDocument = 'mutation ClearFrontend($id: ID!) { done: deleteFrontendSettings(id: $id) }'
const leafDocument = `query Leaf($app: ID!, $tenant: ID!) { rows: tenant2Applications(applicationId: $app, tenantId: $tenant) { id enabled settings { id } } }`
const ensureDocument = 'mutation Ensure($id: ID!) { done: ensureTenant2ApplicationSettings(tenant2ApplicationId: $id) { id } }'
const sourced = 'value layer'
export const effectiveDocument = `query Effective($applicationId: ID!, $tenantId: ID!) { settings: effectiveSettings(applicationId: $applicationId, tenantId: $tenantId) {
  backend { EnabledModules { ${sourced} } KeyValuePairs { Key Value layer } }
  frontend { EnabledThemes { ${sourced} } DefaultTheme { ${sourced} } EnabledLocales { ${sourced} } DefaultLocale { ${sourced} } KeyValuePairs { Key Value layer } } } }`
export const settingsDocuments = [
  readDocument,
  backendDocument,
  frontendDocument,
  clearBackendDocument,
  clearFrontendDocument,
  leafDocument,
  ensureDocument,
  effectiveDocument,
]

/** What the layer sets. */
export async function readSettings(connection: Connection, layer: Layer, { signal }: CallOptions): Promise<Settings> {
  const { settings } = await ask<{ settings: Settings }>(connection, readDocument, layer, { signal })
  return settings
}

/** The values of a layer, as people read them. */
export const valuesOfSettings = ({ backendSetting, frontendSetting }: Settings): Row => ({
  backend: backendSetting.moduleConfig,
  frontend: frontendSetting.moduleConfig,
})

/** Changes a layer; answers what it then sets. */
export async function updateSettings(
  connection: Connection,
  layer: Layer,
  { backend, frontend, signal }: SettingsChange & CallOptions,
): Promise<Settings> {
  const { backendSetting, frontendSetting } = await readSettings(connection, layer, { signal })
  const put = async (document: string, { id, moduleConfig }: Part, change: Row): Promise<void> => {
    if (Object.keys(change).length === 0) return
    const pairs = change['KeyValuePairs'] as Pair[] | undefined
    const input = pairs === undefined ? change : { ...change, KeyValuePairs: merged(moduleConfig.KeyValuePairs, pairs) }
    await ask(connection, document, { id, input }, { signal })
  }
  await put(backendDocument, backendSetting, backend)
  await put(frontendDocument, frontendSetting, frontend)
  return readSettings(connection, layer, { signal })
}

/** The pairs that are there, with the given ones in their place or behind. */
export function merged(present: readonly Pair[], given: readonly Pair[]): Pair[] {
  const byKey = new Map([...present, ...given].map(({ Key, Value }) => [Key, Value]))
  return [...byKey].map(([Key, Value]) => ({ Key, Value }))
}

/** Empties a layer. */
export async function clearSettings(connection: Connection, layer: Layer, { signal }: CallOptions): Promise<void> {
  const { backendSetting, frontendSetting } = await readSettings(connection, layer, { signal })
  await ask(connection, clearBackendDocument, { id: backendSetting.id }, { signal })
  await ask(connection, clearFrontendDocument, { id: frontendSetting.id }, { signal })
}

export type TenantApp = { tenant: string; app: string }
export type Leaf = { id: string; enabled: boolean; settings: { id: string } | null }

/** The row of an app in a tenant, or null. */
export async function findTenantApp(connection: Connection, { tenant, app }: TenantApp, { signal }: CallOptions): Promise<Leaf | null> {
  const { rows } = await ask<{ rows: Leaf[] }>(connection, leafDocument, { app, tenant }, { signal })
  return rows[0] ?? null
}

/** The row whose settings are the most specific layer; throws when there is none. */
export async function findLeaf(connection: Connection, pair: TenantApp, options: CallOptions): Promise<string> {
  const leaf = await findTenantApp(connection, pair, options)
  if (leaf === null)
    throw new Failure('notFound', 'The tenant does not have the app. Give it: svc apps enable <app> --tenant <tenant>')
  if (leaf.settings === null)
    throw new Failure('notFound', 'This layer sets nothing yet. The first svc settings update makes it.')
  return leaf.id
}

/** The same, and the layer is there afterwards. */
export async function ensureLeaf(connection: Connection, pair: TenantApp, options: CallOptions): Promise<string> {
  const leaf = await findTenantApp(connection, pair, options)
  if (leaf === null) return findLeaf(connection, pair, options)
  if (leaf.settings === null) await ask(connection, ensureDocument, { id: leaf.id }, options)
  return leaf.id
}
