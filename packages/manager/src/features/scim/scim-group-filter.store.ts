// Compares the attributes of a group in a row of `scim_groups` with the alias `s`. `eq` on displayName, externalId, id and
// members.value uses an index.
import { sql } from 'kysely'
import { parseUuid } from '../../platform/ids.ts'
import type { Filter } from './scim-filter.pure.ts'
import {
  type Compile,
  type Condition,
  type FilterResource,
  compileFilter,
  compilePresence,
  createCommonFields,
  createElementField,
  createTextField,
  identity,
  listRequiredValues,
  readText,
  refuse,
  toLowerCase,
} from './scim-filter.store.ts'

const hasMembers = sql<boolean>`(s.member_count > 0)`

/** The groups of a person. The array is computed once, so that an index of `scim_groups` finds the rows even below `or`. */
function compileMembership(text: string): Condition {
  const userId = parseUuid(text)
  if (userId === null) return sql<boolean>`false`
  return sql<boolean>`(s.id = any(array(select m.group_id from scim_group_members m where m.user_id = ${userId}::uuid)))`
}

/** A group matches if one of its members does; `ne` matches if none of them is equal. */
const compileMember: Compile = (comparison) => {
  const presence = compilePresence(comparison, hasMembers)
  if (presence !== null) return presence
  const isMember = compileMembership(readText(comparison))
  if (comparison.operator === 'eq') return isMember
  if (comparison.operator === 'ne') return sql<boolean>`(not ${isMember})`
  throw refuse(comparison, 'a member is an id, which has no order and no parts')
}

const compileElementValue: Compile = (comparison) => {
  const presence = compilePresence(comparison, sql<boolean>`true`)
  if (presence !== null) return presence
  const userId = parseUuid(readText(comparison))
  const isEqual = userId === null ? sql<boolean>`false` : sql<boolean>`(m.user_id = ${userId}::uuid)`
  if (comparison.operator === 'eq') return isEqual
  if (comparison.operator === 'ne') return sql<boolean>`(not ${isEqual})`
  throw refuse(comparison, 'a member is an id, which has no order and no parts')
}

const elementFields: ReadonlyMap<string, Compile> = new Map<string, Compile>([
  ['value', compileElementValue],
  ['type', createTextField(sql<string>`'User'::text`, toLowerCase)],
])

/** `members[…]`: one member matches the whole filter. An equality of its value also uses the index. */
function compileElement(filter: Filter): Condition {
  const condition = compileFilter(filter, { fields: elementFields })
  const exists = sql<boolean>`exists (select from scim_group_members m where m.group_id = s.id and ${condition})`
  const memberships = listRequiredValues(filter).map(compileMembership)
  return sql<boolean>`(${sql.join([...memberships, exists], sql` and `)})`
}

/** Returns the attributes of a group. `baseUrl` is the address of the SCIM routes, which `meta.location` contains. */
export function createGroupFields(baseUrl: string): FilterResource {
  const fields = new Map<string, Compile>([
    ...createCommonFields('Group', sql<string>`s.id`, baseUrl),
    ['displayname', createTextField(sql<string>`s.display_name`, toLowerCase)],
    ['externalid', createTextField(sql<string | null>`s.external_id`, identity)],
    ['members', compileMember],
    ['members.value', compileMember],
    ['members.type', createElementField('type', compileElement)],
  ])
  return {
    fields,
    elements: { name: 'members', compile: compileElement },
    indexedNames: new Set(['id', 'displayname', 'externalid', 'members', 'members.value']),
  }
}
