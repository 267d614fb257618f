// Builds the audit event for a change of settings.
import type { AuditEvent } from '../../platform/audit/append.ts'
import { abbreviateList } from '../../platform/audit/abbreviate.ts'
import { changedPairs } from '../../platform/inputs/key-value-pairs.ts'
import { fullBackend, fullFrontend, layerOf } from './layers.pure.ts'
import type { Settings } from './settings.store.ts'

/** Returns the audit event. Backend pairs can contain secrets, so the event lists their keys but not their values. */
export function settingsEvent(
  action: AuditEvent['action'],
  before: Settings | null,
  after: Settings,
): AuditEvent {
  const empty = { backend: fullBackend(null), frontend: fullFrontend(null) }
  const backend = changedPairs(
    'backend.KeyValuePairs',
    (before ?? empty).backend.KeyValuePairs,
    after.backend.KeyValuePairs,
  )
  const frontend = changedPairs(
    'frontend.KeyValuePairs',
    (before ?? empty).frontend.KeyValuePairs,
    after.frontend.KeyValuePairs,
  )
  const layer = layerOf(after)
  return {
    projectId: after.projectId,
    entityType: 'settings',
    entityId: after.id,
    action,
    description: `settings of ${layer} ${ownerId(after)} ${action === 'create' ? 'created' : 'updated'}`,
    classes: {
      ...publicFields(fieldsOf(after)),
      ...publicFields(frontend.before),
      ...publicFields(frontend.after),
    },
    before: before && { ...fieldsOf(before), ...backend.before, ...frontend.before },
    after: { ...fieldsOf(after), ...backend.after, ...frontend.after },
    metadata: { layer, tenantId: after.tenantId, applicationId: after.applicationId },
  }
}

const ownerId = ({ projectId, tenantId, applicationId }: Settings): string =>
  [tenantId, applicationId].filter((id) => id !== null).join(' x ') || projectId

const publicFields = (fields: object) =>
  Object.fromEntries(Object.keys(fields).map((field) => [field, 'public' as const]))

function fieldsOf({ id, backend, frontend }: Settings): Record<string, unknown> {
  return {
    id,
    'backend.EnabledModules': abbreviateList(backend.EnabledModules),
    'frontend.EnabledThemes': abbreviateList(frontend.EnabledThemes),
    'frontend.DefaultTheme': frontend.DefaultTheme,
    'frontend.EnabledLocales': abbreviateList(frontend.EnabledLocales),
    'frontend.DefaultLocale': frontend.DefaultLocale,
  }
}
