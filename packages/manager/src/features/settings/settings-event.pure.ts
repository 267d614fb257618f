// Builds the audit event for a settings change.
import type { RevisionFields } from '../../platform/postgres/revised.ts'
import type { AuditEvent } from '../../platform/audit/append.ts'
import { abbreviateList } from '../../platform/audit/abbreviate.ts'
import { findChangedPairs } from '../../platform/inputs/key-value-pairs.ts'
import { fillBackendDefaults, fillFrontendDefaults, getLayer } from './layers.pure.ts'
import type { Settings } from './settings.store.ts'

type Row = Omit<Settings, keyof RevisionFields>

/** Returns the audit event. Backend pairs can contain secrets, so the event lists their keys but not their values. */
export function createSettingsEvent(
  action: AuditEvent['action'],
  before: Row | null,
  after: Row,
): AuditEvent {
  const emptyConfigs = { backend: fillBackendDefaults(null), frontend: fillFrontendDefaults(null) }
  const backend = findChangedPairs(
    'backend.KeyValuePairs',
    (before ?? emptyConfigs).backend.KeyValuePairs,
    after.backend.KeyValuePairs,
  )
  const frontend = findChangedPairs(
    'frontend.KeyValuePairs',
    (before ?? emptyConfigs).frontend.KeyValuePairs,
    after.frontend.KeyValuePairs,
  )
  const layer = getLayer(after)
  return {
    projectId: after.projectId,
    entityType: 'settings',
    entityId: after.id,
    action,
    description: `settings of ${layer} ${formatOwner(after)} ${action === 'create' ? 'created' : 'updated'}`,
    classes: {
      ...classifyAsPublic(getAuditedFields(after)),
      ...classifyAsPublic(frontend.before),
      ...classifyAsPublic(frontend.after),
    },
    before: before && { ...getAuditedFields(before), ...backend.before, ...frontend.before },
    after: { ...getAuditedFields(after), ...backend.after, ...frontend.after },
    metadata: { layer, tenantId: after.tenantId, applicationId: after.applicationId },
  }
}

const formatOwner = ({ projectId, tenantId, applicationId }: Row): string =>
  [tenantId, applicationId].filter((id) => id !== null).join(' x ') || projectId

const classifyAsPublic = (fields: object) =>
  Object.fromEntries(Object.keys(fields).map((field) => [field, 'public' as const]))

function getAuditedFields({ id, backend, frontend }: Row): Record<string, unknown> {
  return {
    id,
    'backend.EnabledModules': abbreviateList(backend.EnabledModules),
    'frontend.EnabledThemes': abbreviateList(frontend.EnabledThemes),
    'frontend.DefaultTheme': frontend.DefaultTheme,
    'frontend.EnabledLocales': abbreviateList(frontend.EnabledLocales),
    'frontend.DefaultLocale': frontend.DefaultLocale,
  }
}
