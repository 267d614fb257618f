// Reads and writes the settings of one layer.
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
import { findDefaultsProblem } from './settings-defaults.ts'

/** Exactly one field is set and names the layer. */
export type Layer = { project?: string; tenant?: string; application?: string; tenant2application?: string }
export type Settings = Awaited<ReturnType<typeof readSettings>>
/** Pairs are merged with the existing pairs. All other fields replace the existing values. */
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

type SettingsUpdate = SettingsChange & {
  /** Keys of pairs to remove. */
  removed?: { backend: readonly string[]; frontend: readonly string[] }
  inherited?: Layer[]
}

/** Returns the settings of the layer itself, without inherited values. */
export async function readSettings(connection: Connection, layer: Layer, { signal }: CallOptions) {
  const { settings } = await graphql(connection, getSettingsDocument, layer, { signal })
  return settings
}

/** Converts the settings of a layer for printing. */
export const toPrintableSettings = ({ backendSetting, frontendSetting }: Settings): Row => ({
  backend: backendSetting.moduleConfig,
  frontend: frontendSetting.moduleConfig,
})

/**
 * Changes a layer and returns its new settings. `inherited` contains the layers from which it inherits, nearest first.
 */
export async function updateSettings(
  connection: Connection,
  layer: Layer,
  { backend, frontend, removed, inherited = [], signal }: SettingsUpdate & CallOptions,
): Promise<Settings> {
  const { backendSetting, frontendSetting } = await readSettings(connection, layer, { signal })
  const inheritedSettings = await Promise.all(
    inherited.map((one) => readSettings(connection, one, { signal })),
  )
  const configs = inheritedSettings.map((one) => one.frontendSetting.moduleConfig)
  const problem = findDefaultsProblem(frontend, frontendSetting.moduleConfig, configs)
  if (problem !== null) throw new Failure('usage', problem)
  // The merged pairs replace all pairs. If another user adds a pair after the read, the Manager rejects the update.
  let { revision } = backendSetting
  if (hasChanges(backend, removed?.backend)) {
    const merged = mergeChange(backend, backendSetting.moduleConfig.KeyValuePairs, removed?.backend)
    const variables = { id: backendSetting.id, input: { ...merged, expectedRevision: revision } }
    const result = await graphql(connection, updateBackendModuleConfigDocument, variables, { signal })
    revision = result.updateBackendModuleConfig.revision
  }
  if (hasChanges(frontend, removed?.frontend)) {
    const merged = mergeChange(frontend, frontendSetting.moduleConfig.KeyValuePairs, removed?.frontend)
    const variables = { id: frontendSetting.id, input: { ...merged, expectedRevision: revision } }
    await graphql(connection, updateFrontendModuleConfigDocument, variables, { signal })
  }
  return readSettings(connection, layer, { signal })
}

const hasChanges = (change: object, removedKeys: readonly string[] = []): boolean =>
  Object.keys(change).length + removedKeys.length > 0

function mergeChange<Change extends { KeyValuePairs?: Pair[] }>(
  change: Change,
  currentPairs: readonly Pair[],
  removedKeys: readonly string[] = [],
): Change {
  if (change.KeyValuePairs === undefined && removedKeys.length === 0) return change
  const removed = new Set(removedKeys)
  const keptPairs = currentPairs.filter(({ Key }) => !removed.has(Key))
  return { ...change, KeyValuePairs: mergePairs(keptPairs, change.KeyValuePairs ?? []) }
}

/**
 * Merges the given pairs into the existing pairs. A given pair replaces an existing pair with the same key.
 */
function mergePairs(currentPairs: readonly Pair[], newPairs: readonly Pair[]): Pair[] {
  const byKey = new Map([...currentPairs, ...newPairs].map(({ Key, Value }) => [Key, Value]))
  return [...byKey].map(([Key, Value]) => ({ Key, Value }))
}

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

/** Returns the row that links the app to the tenant, or null. */
export async function findTenantApp(
  connection: Connection,
  { tenant, app }: TenantApp,
  { signal }: CallOptions,
) {
  const variables = { applicationId: app, tenantId: tenant }
  const result = await graphql(connection, listTenant2ApplicationsDocument, variables, { signal })
  return result.tenant2Applications[0] ?? null
}

/** Returns the row that links the app to the tenant. Throws if there is none. */
export async function getTenantApp(connection: Connection, pair: TenantApp, options: CallOptions) {
  const row = await findTenantApp(connection, pair, options)
  if (row !== null) return row
  throw new Failure(
    'notFound',
    'The app is not enabled for the tenant. Run: svc apps enable <app> --tenant <tenant>',
  )
}

/** Creates the settings of an app in a tenant if they do not exist yet. */
export const ensureTenantAppSettings = (
  connection: Connection,
  tenant2ApplicationId: string,
  { signal }: CallOptions,
) => graphql(connection, ensureTenant2ApplicationSettingsDocument, { tenant2ApplicationId }, { signal })
