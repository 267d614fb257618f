// Applies the operations of a SCIM PATCH (RFC 7644, section 3.5.2). Paths and values are parsed into edits before the row is
// locked. An edit reads each of the at most 20 e-mail addresses once, so the time under the lock grows with the size of the
// body and with nothing else.
import {
  type AttributePath,
  type TextAttribute,
  findTextAttribute,
  parseAttributePath,
} from './scim-attributes.pure.ts'
import { type Draft, type Kind, createEmailEdit } from './scim-patch-emails.pure.ts'
import { scimBadRequest } from './scim-errors.pure.ts'
import { type PatchPath, parsePatchPath } from './scim-filter.pure.ts'
import { type ScimUser, readBoolean, readMembers, readTextAttribute, selectValues } from './scim-user.pure.ts'

/** A checked change of one attribute. */
export type Edit = (draft: Draft) => void

/** Limits on the operations of a PATCH, and on the attributes that they change in total. */
export const patchLimits = { operations: 100, edits: 200 } as const

// The service provider sets these attributes.
const readOnlyNames = new Set(['id', 'meta', 'schemas'])

/** Parses the body of a PATCH; throws if an operation is malformed. Operations on unknown attributes change nothing. */
export function parsePatch(body: unknown): readonly Edit[] {
  const operations = readMembers(body, 'the body').get('operations')
  if (!Array.isArray(operations) || operations.length === 0)
    throw scimBadRequest('invalidSyntax', 'Operations must be a list with at least one operation')
  if (operations.length > patchLimits.operations)
    throw scimBadRequest('invalidValue', `a PATCH can have at most ${patchLimits.operations} operations`)
  const edits: Edit[] = []
  for (const operation of operations as readonly unknown[]) {
    edits.push(...parseOperation(operation))
    if (edits.length > patchLimits.edits)
      throw scimBadRequest('invalidValue', `a PATCH can change at most ${patchLimits.edits} attributes`)
  }
  return edits
}

/** Returns the user after all edits. The result is not checked against other users. */
export function applyPatch(user: ScimUser, edits: readonly Edit[]): ScimUser {
  const draft: Draft = selectValues(user)
  for (const edit of edits) edit(draft)
  return draft
}

function parseOperation(operation: unknown): Edit[] {
  const members = readMembers(operation, 'an operation')
  const kind = readKind(members.get('op'))
  const path = members.get('path') ?? ''
  if (typeof path !== 'string') throw scimBadRequest('invalidPath', 'the path must be a string')
  if (kind !== 'remove' && !members.has('value'))
    throw scimBadRequest('invalidSyntax', `an operation ${kind} needs a value`)
  if (path !== '') return createExplicitEdits(kind, parsePatchPath(path), members.get('value'))
  if (kind === 'remove') throw scimBadRequest('noTarget', 'an operation remove needs a path')
  return createMemberEdits(kind, members.get('value'))
}

/** Entra ID starts the names of operations with a capital letter. */
function readKind(op: unknown): Kind {
  const kind = typeof op === 'string' ? op.toLowerCase() : ''
  if (kind === 'add' || kind === 'replace' || kind === 'remove') return kind
  throw scimBadRequest('invalidSyntax', 'op must be add, replace or remove')
}

function createExplicitEdits(kind: Kind, target: PatchPath, value: unknown): Edit[] {
  if (readOnlyNames.has(target.path.name))
    throw scimBadRequest('mutability', `${target.path.name} cannot be changed`)
  return createEdits(kind, target, value)
}

/** An operation without a path: each member of its value names an attribute. Read-only attributes are ignored. */
function createMemberEdits(kind: Kind, value: unknown): Edit[] {
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw scimBadRequest(
      'invalidSyntax',
      'an operation without a path needs an object with attributes as value',
    )
  return Object.entries(value).flatMap(([name, member]) => {
    const target = parseMemberName(name)
    return target === null || readOnlyNames.has(target.path.name) ? [] : createEdits(kind, target, member)
  })
}

/** Entra ID also sends names with a sub-attribute or a filter, such as `name.givenName`. */
function parseMemberName(name: string): PatchPath | null {
  if (name.includes('[')) return parsePatchPath(name)
  const path = parseAttributePath(name)
  return path === null ? null : { path, filter: null }
}

function createEdits(kind: Kind, target: PatchPath, value: unknown): Edit[] {
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

function createTextEdit(kind: Kind, attribute: TextAttribute, value: unknown): Edit {
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
function createNameEdits(kind: Kind, value: unknown): Edit[] {
  const members = kind === 'remove' || value === null ? null : readMembers(value, 'name')
  return nameParts.flatMap((path) => {
    if (members?.has(path.sub as string) === false) return []
    return [createTextEdit(kind, findTextAttribute(path) as TextAttribute, members?.get(path.sub as string))]
  })
}

function createActiveEdit(kind: Kind, value: unknown): Edit {
  // Without `active`, a user is active by default, so a removal would reactivate the person.
  if (kind === 'remove') throw scimBadRequest('mutability', 'active cannot be removed; replace it')
  const active = readBoolean(value, 'active')
  return (draft) => void (draft.active = active)
}
