// Builds audit events for one entity type from its rows before and after a change.
import type { AuditAction, AuditEvent } from './append.ts'
import type { FieldClass } from './changes.ts'
import type { RevisionFields } from '../postgres/revised.ts'

const revisionClasses: Record<keyof RevisionFields, FieldClass> = {
  revision: 'ignored',
  updatedAt: 'ignored',
}

/** Number of ids that the metadata of one audit row lists. A change of more objects has several rows. */
export const maxListedIds = 500

type Rows<Row> = { before: Row | null; after: Row | null }
const pastTense = {
  create: 'created',
  update: 'updated',
  delete: 'deleted',
  grant: 'granted',
  revoke: 'revoked',
  rotate: 'rotated',
  approve: 'approved',
  deny: 'denied',
  deliver: 'delivered',
  export: 'exported',
  read: 'read',
  attest: 'attested',
  wake: 'woken',
  run: 'run',
  retry: 'retried',
  test: 'tested',
  accept: 'accepted',
  deactivate: 'deactivated',
  reactivate: 'reactivated',
} satisfies Record<AuditAction, string>

/** Returns an event builder. `nameOf` names the row in descriptions; `projectOf` selects the chain (null: system). */
export function createEventBuilder<Row extends { id: string }>(options: {
  type: string
  /** The class of every column; a missing column is a compile error. Revisions are not part of the trail. */
  classes: Record<Exclude<keyof Row & string, keyof RevisionFields>, FieldClass>
  nameOf: (row: Row) => string
  projectOf: (row: Row) => string | null
}) {
  return (action: AuditAction, { before, after }: Rows<Row>): AuditEvent => {
    const row = after ?? before
    if (row === null) throw new Error('an audit event needs the row before or after the change')
    return {
      projectId: options.projectOf(row),
      entityType: options.type,
      entityId: row.id,
      action,
      description: `${options.type} ${options.nameOf(row)} ${pastTense[action]}`,
      classes: { ...options.classes, ...revisionClasses },
      before,
      after,
    }
  }
}
