// Reads a SCIM group from a request body. Unknown attributes are ignored. A member is known by its id only: the names and
// addresses that clients send along belong to the user.
import { parseUuid } from '../../platform/ids.ts'
import { groupTextAttributes } from './scim-attributes.pure.ts'
import { scimBadRequest } from './scim-errors.pure.ts'
import { invalidValue, readMembers, readRequiredText, readText } from './scim-values.pure.ts'

/** The attributes that a client writes, without the members. */
export type GroupValues = { displayName: string; externalId: string | null }

/** The largest number of members that a body can name. */
export const maxMembers = 50_000

/** A group in a body. Without `externalId`, the body does not contain it. */
export type GroupBody = {
  values: Pick<GroupValues, 'displayName'> & Partial<GroupValues>
  memberIds: readonly string[]
}

/** Reads the body of a POST or a PUT. */
export function readGroup(body: unknown): GroupBody {
  const attributes = readMembers(body, 'the body')
  const displayName = readDisplayName(attributes.get('displayname'))
  const memberIds = [...new Set(readMemberIds(attributes.get('members')))]
  if (!attributes.has('externalid')) return { values: { displayName }, memberIds }
  return { values: { displayName, externalId: readExternalId(attributes.get('externalid')) }, memberIds }
}

export const readDisplayName = (value: unknown): string =>
  readRequiredText(value, groupTextAttributes.displayName)

export const readExternalId = (value: unknown): string | null =>
  readText(value, groupTextAttributes.externalId)

/** Reads the ids of a list of members, or of one member. */
export function readMemberIds(value: unknown): readonly string[] {
  if (value === null || value === undefined) return []
  const elements: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (elements.length > maxMembers) throw tooManyMembers()
  return elements.map(readMemberId)
}

export const tooManyMembers = (): Error =>
  invalidValue(
    `a request can contain at most ${maxMembers} members; add the others with further PATCH requests, or split the group`,
  )

/** Reads the id of a member; a plain string is the id. A body can contain thousands of members, so none gets a map. */
function readMemberId(element: unknown): string {
  if (typeof element === 'string') return readUserId(element)
  if (element === null || typeof element !== 'object' || Array.isArray(element))
    throw scimBadRequest('invalidSyntax', 'an element of members must be a JSON object')
  let id: unknown
  for (const [name, member] of Object.entries(element)) {
    const attribute = name.toLowerCase()
    if (attribute === 'value') id = member
    if (attribute === 'type') assertUserType(member)
  }
  return readUserId(id)
}

function readUserId(value: unknown): string {
  const id = parseUuid(value)
  if (id === null) throw invalidValue('members.value must be the id of a SCIM user, which is a UUID')
  return id
}

function assertUserType(type: unknown): void {
  if (type === null || (typeof type === 'string' && type.toLowerCase() === 'user')) return
  throw invalidValue('members.type must be User: nested groups are not supported; add their people')
}
