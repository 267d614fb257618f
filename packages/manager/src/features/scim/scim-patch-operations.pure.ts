// Reads the operations of a SCIM PATCH (RFC 7644, section 3.5.2): what each operation does, to which attribute, with which
// value. The resource decides what the value means.
import { parseAttributePath } from './scim-attributes.pure.ts'
import { scimBadRequest } from './scim-errors.pure.ts'
import { type PatchPath, parsePatchPath } from './scim-filter.pure.ts'
import { readMembers } from './scim-values.pure.ts'

export type PatchKind = 'add' | 'replace' | 'remove'
/** The change of one attribute. An operation without a path has one for each member of its value. */
export type PatchChange = { kind: PatchKind; target: PatchPath; value: unknown }

/** Limits on the operations of a PATCH, and on the attributes that they change in total. */
export const patchLimits = { operations: 100, edits: 200 } as const

// The service provider sets these attributes.
const readOnlyNames = new Set(['id', 'meta', 'schemas'])

/** Yields the changes of a PATCH in order; throws if an operation is malformed. */
export function* readPatch(body: unknown): Generator<PatchChange> {
  const operations = readMembers(body, 'the body').get('operations')
  if (!Array.isArray(operations) || operations.length === 0)
    throw scimBadRequest('invalidSyntax', 'Operations must be a list with at least one operation')
  if (operations.length > patchLimits.operations)
    throw scimBadRequest('invalidValue', `a PATCH can have at most ${patchLimits.operations} operations`)
  for (const operation of operations as readonly unknown[]) yield* readOperation(operation)
}

export const tooManyEdits = (): Error =>
  scimBadRequest('invalidValue', `a PATCH can change at most ${patchLimits.edits} attributes`)

function* readOperation(operation: unknown): Generator<PatchChange> {
  const members = readMembers(operation, 'an operation')
  const kind = readKind(members.get('op'))
  const path = members.get('path') ?? ''
  if (typeof path !== 'string') throw scimBadRequest('invalidPath', 'the path must be a string')
  if (kind !== 'remove' && !members.has('value'))
    throw scimBadRequest('invalidSyntax', `an operation ${kind} needs a value`)
  if (path !== '') yield { kind, target: parseExplicitPath(path), value: members.get('value') }
  else if (kind === 'remove') throw scimBadRequest('noTarget', 'an operation remove needs a path')
  else yield* readMemberChanges(kind, members.get('value'))
}

/** Entra ID starts the names of operations with a capital letter. */
function readKind(op: unknown): PatchKind {
  const kind = typeof op === 'string' ? op.toLowerCase() : ''
  if (kind === 'add' || kind === 'replace' || kind === 'remove') return kind
  throw scimBadRequest('invalidSyntax', 'op must be add, replace or remove')
}

function parseExplicitPath(text: string): PatchPath {
  const target = parsePatchPath(text)
  if (readOnlyNames.has(target.path.name))
    throw scimBadRequest('mutability', `${target.path.name} cannot be changed`)
  return target
}

/** An operation without a path: each member of its value names an attribute. Read-only attributes are ignored. */
function* readMemberChanges(kind: PatchKind, value: unknown): Generator<PatchChange> {
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw scimBadRequest(
      'invalidSyntax',
      'an operation without a path needs an object with attributes as value',
    )
  const entries = Object.entries(value)
  if (entries.length > patchLimits.edits) throw tooManyEdits()
  for (const [name, member] of entries) {
    const target = parseMemberName(name)
    if (target !== null && !readOnlyNames.has(target.path.name)) yield { kind, target, value: member }
  }
}

/** Entra ID also sends names with a sub-attribute or a filter, such as `name.givenName`. */
function parseMemberName(name: string): PatchPath | null {
  if (name.includes('[')) return parsePatchPath(name)
  const path = parseAttributePath(name)
  return path === null ? null : { path, filter: null }
}
