// Plans the settings of a layer.
import { type Connection, GraphqlError } from '@manager/client'
import { Failure } from '../failures.ts'
import type { Pair } from '../field-options.ts'
import type { Row } from '../output.ts'
import { problemOfDefaults } from '../settings-defaults.ts'
import { type Layer, type Settings, type SettingsChange, readSettings, updateSettings } from '../settings.ts'
import { type FieldChange, type Planning, type Step, isSame } from './step.ts'

type DesiredSettings = {
  /** The layer as the plan shows it. */
  path: string
  settings: SettingsChange
  /** Null if the owner of the layer does not exist yet. */
  present: Layer | null
  /** Resolved when the step runs, because an earlier step may create the owner. */
  layer: () => Promise<Layer> | Layer
}

/** Returns the step that makes the layer match the file. */
export async function planSettings(
  { connection, signal }: Planning,
  { path, settings, present, layer }: DesiredSettings,
): Promise<Step> {
  const read = present === null ? null : await findSettings(connection, present, signal)
  const problem = problemOfDefaults(settings.frontend, read?.frontendSetting.moduleConfig ?? {}, [])
  if (problem !== null) throw new Failure('usage', `settings ${path}: ${problem}`)
  const backend = changed('backend', settings.backend, read?.backendSetting.moduleConfig ?? {})
  const frontend = changed('frontend', settings.frontend, read?.frontendSetting.moduleConfig ?? {})
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

/** Returns the settings of the layer, or null if they do not exist yet, which is possible for an app in a tenant. */
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

/** Returns the fields that differ. Pairs are compared key by key, so pairs that only the Manager has are kept. */
function changed(side: string, desired: Row, present: Row): { change: Row; changes: FieldChange[] } {
  const change: Record<string, unknown> = {}
  const changes: FieldChange[] = []
  for (const [field, after] of Object.entries(desired)) {
    if (field === 'KeyValuePairs') {
      const before = new Map(((present[field] ?? []) as Pair[]).map(({ Key, Value }) => [Key, Value]))
      const differing = (after as Pair[]).filter(({ Key, Value }) => before.get(Key) !== Value)
      if (differing.length > 0) change[field] = differing
      for (const { Key, Value } of differing)
        changes.push({ field: `${side}.pairs.${Key}`, before: before.get(Key) ?? null, after: Value })
    } else if (!isSame(present[field] ?? (Array.isArray(after) ? [] : ''), after)) {
      change[field] = after
      changes.push({ field: `${side}.${field}`, before: present[field] ?? null, after })
    }
  }
  return { change, changes }
}
