// Reads a SCIM PATCH of a group. All operations together become one edit of the members, so the work under the lock does not
// depend on the number of operations: each member that the body names is added or removed at most once.
import { parseUuid } from '../../platform/ids.ts'
import { formatAttributePath } from './scim-attributes.pure.ts'
import { scimBadRequest } from './scim-errors.pure.ts'
import type { Filter } from './scim-filter.pure.ts'
import {
  type GroupValues,
  maxMembers,
  readDisplayName,
  readExternalId,
  readMemberIds,
  tooManyMembers,
} from './scim-group.pure.ts'
import { type PatchChange, patchLimits, readPatch, tooManyEdits } from './scim-patch-operations.pure.ts'

/** A change of the members. With `isReplaced`, `added` are all members and `removed` is empty. */
export type MemberEdits = { isReplaced: boolean; added: readonly string[]; removed: readonly string[] }
/** The new values of a group. An absent value stays unchanged. */
export type GroupPatch = Partial<GroupValues> & { edits: MemberEdits }

type Draft = {
  values: Partial<GroupValues>
  isReplaced: boolean
  added: Set<string>
  removed: Set<string>
  /** Number of members that the operations have named. */
  named: number
}

/** Parses the body of a PATCH; throws if an operation is malformed. Operations on unknown attributes change nothing. */
export function parseGroupPatch(body: unknown): GroupPatch {
  const draft: Draft = { values: {}, isReplaced: false, added: new Set(), removed: new Set(), named: 0 }
  let count = 0
  for (const change of readPatch(body)) {
    count++
    if (count > patchLimits.edits) throw tooManyEdits()
    applyChange(draft, change)
  }
  const { values, isReplaced, added, removed } = draft
  return { ...values, edits: { isReplaced, added: [...added], removed: [...removed] } }
}

function applyChange(draft: Draft, change: PatchChange): void {
  const { kind, target, value } = change
  const { path, filter } = target
  if (path.name === 'members') return applyMembers(draft, change)
  const name = formatAttributePath(path)
  if (name !== 'displayname' && name !== 'externalid') return
  if (filter !== null)
    throw scimBadRequest('invalidPath', `${path.name} has one value, which a filter cannot select`)
  if (name === 'externalid') draft.values.externalId = kind === 'remove' ? null : readExternalId(value)
  else if (kind === 'remove')
    throw scimBadRequest('mutability', 'displayName is required and cannot be removed')
  else draft.values.displayName = readDisplayName(value)
}

function applyMembers(draft: Draft, { kind, target, value }: PatchChange): void {
  const { path, filter } = target
  if (path.sub === 'value')
    throw scimBadRequest(
      'mutability',
      'the value of a member cannot be changed; remove the member and add another one',
    )
  // The Manager stores no other sub-attribute of a member.
  if (path.sub !== null) return
  if (filter === null) return applyList(draft, kind, value)
  if (kind !== 'remove')
    throw scimBadRequest('invalidPath', 'only the operation remove can select members with a filter')
  removeMembers(draft, readSelectedIds(filter))
}

function applyList(draft: Draft, kind: PatchChange['kind'], value: unknown): void {
  const isRemoveAll = kind === 'remove' && (value === undefined || value === null)
  const ids = readMemberIds(value)
  if (kind === 'replace' || isRemoveAll) {
    draft.isReplaced = true
    draft.added.clear()
    draft.removed.clear()
  }
  if (kind === 'remove') removeMembers(draft, ids)
  else addMembers(draft, ids)
}

function addMembers(draft: Draft, ids: readonly string[]): void {
  countMembers(draft, ids)
  for (const id of ids) {
    draft.removed.delete(id)
    draft.added.add(id)
  }
}

function removeMembers(draft: Draft, ids: readonly string[]): void {
  countMembers(draft, ids)
  for (const id of ids) {
    draft.added.delete(id)
    if (!draft.isReplaced) draft.removed.add(id)
  }
}

function countMembers(draft: Draft, ids: readonly string[]): void {
  draft.named += ids.length
  if (draft.named > maxMembers) throw tooManyMembers()
}

/** Returns the ids in a filter such as `value eq "…" or value eq "…"`. A text that is not a UUID selects no member. */
function readSelectedIds(filter: Filter): string[] {
  if (filter.kind === 'or') return filter.filters.flatMap(readSelectedIds)
  if (
    filter.kind !== 'compare' ||
    filter.operator !== 'eq' ||
    typeof filter.value !== 'string' ||
    formatAttributePath(filter.path) !== 'value'
  )
    throw scimBadRequest(
      'invalidFilter',
      'a filter on members must have the form value eq "<id>", joined by or',
    )
  const id = parseUuid(filter.value)
  return id === null ? [] : [id]
}
