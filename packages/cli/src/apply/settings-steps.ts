// Plans the changes to the settings of a layer.
import { type Connection, GraphqlError } from '@manager/client'
import { Failure } from '../failures.ts'
import type { Pair } from '../field-options.ts'
import type { Row } from '../output.ts'
import { findDefaultsProblem } from '../settings-defaults.ts'
import { type Layer, type Settings, type SettingsChange, readSettings, updateSettings } from '../settings.ts'
import { type FieldChange, type Planning, type Step, isEqualValue } from './step.ts'

type DesiredSettings = {
  /** The path of the layer in the plan. */
  path: string
  settings: SettingsChange
  /** Null if the owner of the layer does not exist yet. */
  currentLayer: Layer | null
  /** Called when the step runs, because an earlier step may create the owner. */
  layer: () => Promise<Layer> | Layer
}

/** Returns the step that makes the layer match the file. */
export async function planSettings(
  { connection, signal, limit, isPruning }: Planning,
  { path, settings: declared, currentLayer, layer }: DesiredSettings,
): Promise<Step> {
  const settings = isPruning ? fillSettings(declared) : declared
  const currentSettings =
    currentLayer === null ? null : await limit(() => findSettings(connection, currentLayer, signal))
  const currentBackend = currentSettings?.backendSetting.moduleConfig ?? {}
  const currentFrontend = currentSettings?.frontendSetting.moduleConfig ?? {}
  const backend = compareSettings('backend', settings.backend, currentBackend, isPruning)
  const frontend = compareSettings('frontend', settings.frontend, currentFrontend, isPruning)
  const problem = findDefaultsProblem(frontend.change, currentFrontend, [])
  if (problem !== null) throw new Failure('usage', `settings ${path}: ${problem}`)
  const changes = [...backend.changes, ...frontend.changes]
  return {
    action: changes.length === 0 ? 'unchanged' : 'update',
    kind: 'settings',
    path,
    changes,
    run: async () => {
      await updateSettings(connection, await layer(), {
        backend: backend.change,
        frontend: frontend.change,
        removed: { backend: backend.removedKeys, frontend: frontend.removedKeys },
      })
    },
  }
}

/**
 * Returns the settings of the layer, or null if they do not exist yet. Only an app in a tenant can lack
 * settings.
 */
export async function findSettings(
  connection: Connection,
  layer: Layer,
  signal: AbortSignal,
): Promise<Settings | null> {
  try {
    return await readSettings(connection, layer, { signal })
  } catch (error) {
    if (error instanceof GraphqlError && error.code === 'not_found') return null
    throw error
  }
}

/** Returns the settings with an empty value for each omitted field. Pruning then clears these fields. */
const fillSettings = ({ backend, frontend }: SettingsChange): SettingsChange => ({
  backend: { EnabledModules: [], KeyValuePairs: [], ...backend },
  frontend: {
    EnabledThemes: [],
    DefaultTheme: '',
    EnabledLocales: [],
    DefaultLocale: '',
    KeyValuePairs: [],
    ...frontend,
  },
})

type SettingsDifference = { change: Row; removedKeys: string[]; changes: FieldChange[] }

/**
 * Returns the fields that differ. Key-value pairs are compared key by key. Pairs that exist only in the Manager are
 * kept, or removed if `isExact` is true.
 */
function compareSettings(
  side: string,
  desiredSettings: Row,
  existingSettings: Row,
  isExact: boolean,
): SettingsDifference {
  const { KeyValuePairs: pairs, ...fields } = desiredSettings
  const change: Record<string, unknown> = {}
  const changes: FieldChange[] = []
  for (const [field, after] of Object.entries(fields))
    if (!isEqualValue(existingSettings[field] ?? (Array.isArray(after) ? [] : ''), after)) {
      change[field] = after
      changes.push({ field: `${side}.${field}`, before: existingSettings[field] ?? null, after })
    }
  const currentPairs = toPairMap(existingSettings['KeyValuePairs'])
  const desiredPairs = toPairMap(pairs)
  const changedPairs = [...desiredPairs].filter(([key, value]) => currentPairs.get(key) !== value)
  if (changedPairs.length > 0) change['KeyValuePairs'] = changedPairs.map(([Key, Value]) => ({ Key, Value }))
  for (const [key, after] of changedPairs)
    changes.push({ field: `${side}.pairs.${key}`, before: currentPairs.get(key) ?? null, after })
  const removedKeys = isExact ? [...currentPairs.keys()].filter((key) => !desiredPairs.has(key)) : []
  for (const key of removedKeys)
    changes.push({ field: `${side}.pairs.${key}`, before: currentPairs.get(key) ?? null, after: null })
  return { change, removedKeys, changes }
}

const toPairMap = (pairs: unknown): Map<string, string> =>
  new Map(((pairs ?? []) as Pair[]).map(({ Key, Value }) => [Key, Value]))
