// Applies the operations of a SCIM PATCH to a user. Paths and values are parsed into edits before the row is locked. An edit
// reads each of the at most 20 e-mail addresses once, so the time under the lock grows with the size of the body and with
// nothing else.
import { type AttributePath, type TextAttribute, findTextAttribute } from './scim-attributes.pure.ts'
import { scimBadRequest } from './scim-errors.pure.ts'
import { type Draft, createEmailEdit } from './scim-patch-emails.pure.ts'
import {
  type PatchChange,
  type PatchKind,
  patchLimits,
  readPatch,
  tooManyEdits,
} from './scim-patch-operations.pure.ts'
import { type ScimUser, readTextAttribute, selectValues } from './scim-user.pure.ts'
import { readBoolean, readMembers } from './scim-values.pure.ts'

/** A checked change of one attribute. */
export type Edit = (draft: Draft) => void

/** Parses the body of a PATCH; throws if an operation is malformed. Operations on unknown attributes change nothing. */
export function parsePatch(body: unknown): readonly Edit[] {
  const edits: Edit[] = []
  for (const change of readPatch(body)) {
    edits.push(...createEdits(change))
    if (edits.length > patchLimits.edits) throw tooManyEdits()
  }
  return edits
}

/** Returns the user after all edits. The result is not checked against other users. */
export function applyPatch(user: ScimUser, edits: readonly Edit[]): ScimUser {
  const draft: Draft = selectValues(user)
  for (const edit of edits) edit(draft)
  return draft
}

function createEdits({ kind, target, value }: PatchChange): Edit[] {
  const { path, filter } = target
  if (path.name === 'emails') return createEmailEdit(kind, target, value)
  const text = findTextAttribute(path)
  const isSingleValued = text !== null || path.name === 'name' || path.name === 'active'
  if (filter !== null && isSingleValued)
    throw scimBadRequest('invalidPath', `${path.name} has one value, which a filter cannot select`)
  if (text !== null) return [createTextEdit(kind, text, value)]
  if (path.sub !== null) return []
  if (path.name === 'name') return createNameEdits(kind, value)
  return path.name === 'active' ? [createActiveEdit(kind, value)] : []
}

function createTextEdit(kind: PatchKind, attribute: TextAttribute, value: unknown): Edit {
  const { field, label } = attribute
  if (kind === 'remove' && field === 'userName')
    throw scimBadRequest('mutability', `${label} is required and cannot be removed`)
  const text = kind === 'remove' ? null : readTextAttribute(value, attribute)
  return (draft) => void Object.assign(draft, { [field]: text })
}

const nameParts: readonly AttributePath[] = ['formatted', 'givenname', 'familyname'].map((sub) => ({
  name: 'name',
  sub,
}))

/** A complex value changes only the sub-attributes that it contains. */
function createNameEdits(kind: PatchKind, value: unknown): Edit[] {
  const members = kind === 'remove' || value === null ? null : readMembers(value, 'name')
  return nameParts.flatMap((path) => {
    if (members?.has(path.sub as string) === false) return []
    return [createTextEdit(kind, findTextAttribute(path) as TextAttribute, members?.get(path.sub as string))]
  })
}

function createActiveEdit(kind: PatchKind, value: unknown): Edit {
  // Without `active`, a user is active by default, so a removal would reactivate the person.
  if (kind === 'remove') throw scimBadRequest('mutability', 'active cannot be removed; replace it')
  const active = readBoolean(value, 'active')
  return (draft) => void (draft.active = active)
}
