// The steps of an import. Each contains the outcome of one old row, the rows to write, and the audit events.
import type { AuditAction, AuditEvent } from '@manager/manager/storage'
import type { RuleName } from './rules.ts'
import type { ViewName } from './views.ts'

/** The tables in the order in which they are written. */
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
  /** The bytes to which a row of `pilet_packages` refers. */
  blob?: { sha256: string; bytes: Buffer }
}

type StepContent = Partial<Pick<Step, 'rules' | 'detail' | 'rows' | 'events' | 'blob'>>
const emptyContent = { rules: [], detail: {}, rows: [], events: [] }

/** Creates a step in which the old row becomes a separate new row. */
export const createMovedStep = (
  view: ViewName,
  oldId: string,
  newId: string,
  content: StepContent = {},
): Step => ({
  ...emptyContent,
  ...content,
  view,
  oldId,
  newId,
  outcome: 'moved',
})
/** Creates a step in which the old row is merged into an existing new row. */
export const createMergedStep = (
  view: ViewName,
  oldId: string,
  newId: string,
  content: StepContent = {},
): Step => ({
  ...createMovedStep(view, oldId, newId, content),
  outcome: 'merged',
})
/** Creates a step in which the old row is not imported. `detail` contains its content without credentials. */
export const createSkippedStep = (
  view: ViewName,
  oldId: string,
  rule: RuleName,
  detail: Record<string, unknown> = {},
): Step => ({ ...emptyContent, view, oldId, newId: null, outcome: 'kept_aside', rules: [rule], detail })

/** Creates the audit event for a new entity. All its fields are public. */
export function createCreationEvent(
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
