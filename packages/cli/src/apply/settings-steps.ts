// The settings of a layer in a plan.
import { type Connection, GraphqlError } from '@manager/client'
import { Failure } from '../failures.ts'
import type { Pair } from '../field-options.ts'
import type { Row } from '../output.ts'
import { problemOfDefaults } from '../settings-defaults.ts'
import { type Layer, type Settings, type SettingsChange, readSettings, updateSettings } from '../settings.ts'
import { type FieldChange, type Planning, type Step, isSame } from './step.ts'

type Wanted = {
  /** Which layer, for people. */
  path: string
  settings: SettingsChange
  /** The layer as it is; null while it is not there. */
  present: Layer | null
  /** The layer at the time of the step. */
  layer: () => Promise<Layer> | Layer
}

/** What is to do so that the layer sets what the file says. */
export async function planSettings(
  { connection, signal }: Planning,
  { path, settings, present, layer }: Wanted,
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

/** What the layer sets; null where the most specific layer was not made yet. */
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

/** The fields that differ, and pairs one by one. */
function changed(side: string, wanted: Row, present: Row): { change: Row; changes: FieldChange[] } {
  const change: Record<string, unknown> = {}
  const changes: FieldChange[] = []
  for (const [field, after] of Object.entries(wanted)) {
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
