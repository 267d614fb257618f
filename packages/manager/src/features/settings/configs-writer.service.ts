// Stores changed configs of a settings row in the transaction of the caller.
import { isDeepStrictEqual } from 'node:util'
import type { AuditEvent } from '../../platform/audit/append.ts'
import type { Tx } from '../../platform/postgres/handles.ts'
import { createSettingsEvent } from './settings-event.pure.ts'
import { type Settings, updateSettings } from './settings.store.ts'

export type Configs = Pick<Settings, 'backend' | 'frontend'>

/** Stores the configs, and returns the row with its audit events. If nothing changes, writes nothing. */
export async function writeConfigs(
  tx: Tx,
  before: Settings,
  configs: Partial<Configs>,
): Promise<{ row: Settings; events: AuditEvent[] }> {
  const after = { ...before, ...configs }
  if (isDeepStrictEqual(before, after)) return { row: before, events: [] }
  const newRevision = await updateSettings(tx, before.id, after)
  return { row: { ...after, ...newRevision }, events: [createSettingsEvent('update', before, after)] }
}
