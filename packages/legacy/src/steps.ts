// What an import does with one old row: what becomes of it, the rows it writes, and what the audit trail says.
import type { AuditAction, AuditEvent } from '@manager/manager/storage'
import type { RuleName } from './rules.ts'
import type { ViewName } from './views.ts'

/** In the order in which they are written. */
export const tables = [
  ...(['users', 'projects', 'environments', 'tenants', 'tenant_role_definitions', 'applications'] as const),
  ...(['tenant2applications', 'settings', 'user2tenants', 'machine_users', 'endpoints'] as const),
  ...([
    'machine_user2endpoints',
    'backend_registrations',
    'pilet_packages',
    'personal_access_tokens',
  ] as const),
]
export type TableName = (typeof tables)[number]
export type NewRow = { table: TableName; values: Record<string, unknown> }

export type Outcome = 'moved' | 'merged' | 'kept_aside'
export type Step = {
  view: ViewName
  oldId: string
  outcome: Outcome
  newId: string | null
  rules: RuleName[]
  detail: Record<string, unknown>
  rows: NewRow[]
  events: AuditEvent[]
  /** The bytes that a row of `pilet_packages` refers to. */
  blob?: { sha256: string; bytes: Buffer }
}

type Made = Partial<Pick<Step, 'rules' | 'detail' | 'rows' | 'events' | 'blob'>>
const nothing = { rules: [], detail: {}, rows: [], events: [] }

/** It has a row of its own. */
export const moved = (view: ViewName, oldId: string, newId: string, made: Made = {}): Step => ({
  ...nothing,
  ...made,
  view,
  oldId,
  newId,
  outcome: 'moved',
})
/** Another row stands for it. */
export const merged = (view: ViewName, oldId: string, newId: string, made: Made = {}): Step => ({
  ...moved(view, oldId, newId, made),
  outcome: 'merged',
})
/** Nothing stands for it; `detail` has what it was, without credentials. */
export const keptAside = (
  view: ViewName,
  oldId: string,
  rule: RuleName,
  detail: Record<string, unknown> = {},
): Step => ({ ...nothing, view, oldId, newId: null, outcome: 'kept_aside', rules: [rule], detail })

/** The audit row of something new; its fields are public. */
export function madeEvent(
  entityType: string,
  { projectId, id, name }: { projectId: string | null; id: string; name: string },
  fields: Record<string, unknown>,
  { action = 'create', oldId }: { action?: AuditAction; oldId?: string } = {},
): AuditEvent {
  const after = { id, ...fields }
  return {
    projectId,
    entityType,
    entityId: id,
    action,
    description: `${entityType} ${name} ${action === 'grant' ? 'granted' : 'created'}`,
    classes: Object.fromEntries(Object.keys(after).map((field) => [field, 'public' as const])),
    before: null,
    after,
    metadata:
      oldId === undefined || oldId === id ? { legacyImport: true } : { legacyImport: true, legacyId: oldId },
  }
}
