// Renders SCIM groups (RFC 7643, section 4.2).
import { groupSchema } from './scim-attributes.pure.ts'
import type { GroupValues } from './scim-group.pure.ts'
import {
  type Selection,
  type StoredResource,
  createMeta,
  isSelected,
  selectAttributes,
} from './scim-resource.pure.ts'

/** A stored group. */
export type ScimGroup = GroupValues & StoredResource & { memberCount: number }
/** A group with the ids of its members; null if the response does not contain them. */
export type GroupWithMembers = { group: ScimGroup; memberIds: readonly string[] | null }

/** Whether a response with this selection contains the members. */
export const areMembersSelected = (selection: Selection): boolean => isSelected(selection, 'members')

/** Returns the body of a group. Attributes without a value are left out. */
export function renderGroup(
  { group, memberIds }: GroupWithMembers,
  baseUrl: string,
  selection: Selection,
): object {
  const body = {
    schemas: [groupSchema],
    id: group.id,
    externalId: group.externalId,
    displayName: group.displayName,
    members: memberIds?.map((value) => ({ value, type: 'User' })) ?? null,
    meta: createMeta('Group', group, baseUrl),
  }
  return selectAttributes(body, selection)
}
