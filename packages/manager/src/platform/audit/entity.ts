// Audit events of one kind of entity, built from its rows before and after the change.
import type { AuditAction, AuditEvent } from './append.ts'
import type { FieldClass } from './changes.ts'

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
} satisfies Record<AuditAction, string>

/** `nameOf` is what people call the row in descriptions; `projectOf` names the chain (null for the system's). */
export function auditedEntity<Row extends { id: string }>(options: {
  type: string
  /** Every column of the row; one that is missing does not compile. */
  classes: Record<keyof Row & string, FieldClass>
  nameOf: (row: Row) => string
  projectOf: (row: Row) => string | null
}) {
  return (action: AuditAction, { before, after }: Rows<Row>): AuditEvent => {
    const row = after ?? before
    if (row === null) throw new Error('an audit event needs a row')
    return {
      projectId: options.projectOf(row),
      entityType: options.type,
      entityId: row.id,
      action,
      description: `${options.type} ${options.nameOf(row)} ${pastTense[action]}`,
      classes: options.classes,
      before,
      after,
    }
  }
}
