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
  { connection, signal }: Planning,
  { path, settings, currentLayer, layer }: DesiredSettings,
): Promise<Step> {
  const currentSettings = currentLayer === null ? null : await findSettings(connection, currentLayer, signal)
  const problem = findDefaultsProblem(
    settings.frontend,
    currentSettings?.frontendSetting.moduleConfig ?? {},
    [],
  )
  if (problem !== null) throw new Failure('usage', `settings ${path}: ${problem}`)
  const backend = compareSettings(
    'backend',
    settings.backend,
    currentSettings?.backendSetting.moduleConfig ?? {},
  )
  const frontend = compareSettings(
    'frontend',
    settings.frontend,
    currentSettings?.frontendSetting.moduleConfig ?? {},
  )
  const changes = [...backend.changes, ...frontend.changes]
  return {
    action: changes.length === 0 ? 'unchanged' : 'update',
    kind: 'settings',
    path,
    changes,
    run: async () => {
      await updateSettings(connection, await layer(), { backend: backend.change, frontend: frontend.change })
    },
  }
}

/**
 * Returns the settings of the layer, or null if they do not exist yet. Only an app in a tenant can lack
 * settings.
 */
async function findSettings(
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

/**
 * Returns the fields that differ. Key-value pairs are compared key by key, and pairs that exist only in the
 * Manager are kept.
 */
function compareSettings(
  side: string,
  desiredSettings: Row,
  existingSettings: Row,
): { change: Row; changes: FieldChange[] } {
  const change: Record<string, unknown> = {}
  const changes: FieldChange[] = []
  for (const [field, after] of Object.entries(desiredSettings)) {
    if (field === 'KeyValuePairs') {
      const currentPairs = new Map(
        ((existingSettings[field] ?? []) as Pair[]).map(({ Key, Value }) => [Key, Value]),
      )
      const changedPairs = (after as Pair[]).filter(({ Key, Value }) => currentPairs.get(Key) !== Value)
      if (changedPairs.length > 0) change[field] = changedPairs
      for (const { Key, Value } of changedPairs)
        changes.push({ field: `${side}.pairs.${Key}`, before: currentPairs.get(Key) ?? null, after: Value })
    } else if (!isEqualValue(existingSettings[field] ?? (Array.isArray(after) ? [] : ''), after)) {
      change[field] = after
      changes.push({ field: `${side}.${field}`, before: existingSettings[field] ?? null, after })
    }
  }
  return { change, changes }
}
