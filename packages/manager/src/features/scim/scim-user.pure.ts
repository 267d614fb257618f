// Reads a SCIM user from a request body, and derives the name and the e-mail address that the Manager shows. Unknown
// attributes are ignored. Known attributes are stored exactly as they were sent.
import { parseUuid } from '../../platform/ids.ts'
import { type TextAttribute, emailLimits, textAttributes } from './scim-attributes.pure.ts'
import { scimBadRequest } from './scim-errors.pure.ts'
import { invalidValue, readBoolean, readMembers, readRequiredText, readText } from './scim-values.pure.ts'

export type ScimEmail = { value: string; type: string | null; primary: boolean; display: string | null }

/** The attributes that a client writes. */
export type ScimUser = {
  userName: string
  externalId: string | null
  displayName: string | null
  /** `name.formatted`. */
  formatted: string | null
  /** `name.givenName`. */
  givenName: string | null
  /** `name.familyName`. */
  familyName: string | null
  emails: readonly ScimEmail[]
  active: boolean
}

/** The attribute that contains the subject which the proxy sends; it becomes the id of the user. */
export type SubjectAttribute = 'externalId' | 'userName'

/** Returns the value of a text attribute. Throws if the attribute is `userName` and the value is blank. */
export function readTextAttribute(value: unknown, attribute: TextAttribute): string | null {
  return attribute.field === 'userName' ? readRequiredText(value, attribute) : readText(value, attribute)
}

const [valueRule, typeRule, displayRule] = [
  { label: 'emails.value', maxLength: emailLimits.valueLength },
  { label: 'emails.type', maxLength: emailLimits.typeLength },
  { label: 'emails.display', maxLength: emailLimits.displayLength },
]

/** The sub-attributes that a request sets; absent ones stay unchanged. A null value means no value. */
export type EmailPart = {
  value?: string | null
  type?: string | null
  display?: string | null
  primary?: boolean
}

/** Returns a reader for the sub-attribute of an e-mail address, or null if the Manager does not store it. */
export function findEmailReader(name: string): ((value: unknown) => EmailPart) | null {
  switch (name) {
    case 'value':
      return (value) => ({ value: readText(value, valueRule) })
    case 'type':
      return (value) => ({ type: readText(value, typeRule) })
    case 'display':
      return (value) => ({ display: readText(value, displayRule) })
    case 'primary':
      return (value) => ({
        primary: value === null || value === undefined ? false : readBoolean(value, 'emails.primary'),
      })
    default:
      return null
  }
}

/** Reads an e-mail address; a plain string is its value. */
export function readEmailPart(value: unknown): EmailPart {
  if (typeof value === 'string') return { value: readText(value, valueRule) }
  const part: EmailPart = {}
  for (const [name, member] of readMembers(value, 'an element of emails'))
    Object.assign(part, findEmailReader(name)?.(member))
  return part
}

/** Returns the e-mail address, or null if the part has no value. */
export const toEmail = ({ value, type, display, primary }: EmailPart): ScimEmail | null =>
  value === null || value === undefined
    ? null
    : { value, type: type ?? null, primary: primary ?? false, display: display ?? null }

/** Reads a list of e-mail addresses, or one address. Addresses without a value, and repeated ones, are left out. */
export function readEmails(value: unknown): ScimEmail[] {
  if (value === null || value === undefined) return []
  const elements: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (elements.length > emailLimits.count) throw tooManyEmails()
  const emails = mergeEmails(
    [],
    elements.map((element) => toEmail(readEmailPart(element))).filter((email) => email !== null),
  )
  if (emails.filter(({ primary }) => primary).length > 1)
    throw invalidValue('only one of the emails can be primary')
  return emails
}

const tooManyEmails = (): Error => invalidValue(`a user can have at most ${emailLimits.count} emails`)

const nameEmail = ({ value, type }: ScimEmail): string => JSON.stringify([value.toLowerCase(), type])

/** Adds e-mail addresses. An address with the same value and type replaces the existing one. */
export function mergeEmails(existing: readonly ScimEmail[], added: readonly ScimEmail[]): ScimEmail[] {
  const byName = new Map([...existing, ...added].map((email) => [nameEmail(email), email]))
  if (byName.size > emailLimits.count) throw tooManyEmails()
  return [...byName.values()]
}

/**
 * Reads the body of a POST, or of a PUT if the `previous` values are given. A PUT replaces all attributes, with two
 * exceptions: an absent `active` never reactivates a person, and an absent `externalId`, which Okta does not repeat, stays.
 */
export function readUser(body: unknown, previous: ScimUser | null): ScimUser {
  const members = readMembers(body, 'the body')
  const name = members.get('name') ?? null
  const nameMembers: ReadonlyMap<string, unknown> = name === null ? new Map() : readMembers(name, 'name')
  const active = members.get('active') ?? null
  return {
    userName: readTextAttribute(members.get('username'), textAttributes.username) as string,
    externalId: members.has('externalid')
      ? readTextAttribute(members.get('externalid'), textAttributes.externalid)
      : (previous?.externalId ?? null),
    displayName: readTextAttribute(members.get('displayname'), textAttributes.displayname),
    formatted: readTextAttribute(nameMembers.get('formatted'), textAttributes['name.formatted']),
    givenName: readTextAttribute(nameMembers.get('givenname'), textAttributes['name.givenname']),
    familyName: readTextAttribute(nameMembers.get('familyname'), textAttributes['name.familyname']),
    emails: readEmails(members.get('emails')),
    active: active === null ? (previous?.active ?? true) : readBoolean(active, 'active'),
  }
}

/** Returns the id of the user: the UUID in the subject attribute. */
export function readSubject(user: ScimUser, attribute: SubjectAttribute): string {
  const subject = parseUuid(user[attribute])
  if (subject === null)
    throw invalidValue(
      `${attribute} must be the UUID that the proxy sends as the subject of the person (X-Token-Subject), such as 0b54bc1c-2b1f-4a68-9a55-0c8a51a4c0de; map ${attribute} to the attribute with this UUID`,
    )
  return subject
}

/** Throws unless the user still has the subject that became its id. */
export function assertSameSubject(user: ScimUser, attribute: SubjectAttribute, id: string): void {
  if (readSubject(user, attribute) !== id)
    throw scimBadRequest(
      'mutability',
      `${attribute} is the id of the user and cannot change to another UUID; delete this user and create the other one`,
    )
}

/** Whether both users have the same values. Objects of this type have their keys in the same order. */
export const isSameUser = (a: ScimUser, b: ScimUser): boolean =>
  JSON.stringify(selectValues(a)) === JSON.stringify(selectValues(b))

/** Returns the attributes that a client writes, without any others, in a fixed order. */
export const selectValues = (user: ScimUser): ScimUser => ({
  userName: user.userName,
  externalId: user.externalId,
  displayName: user.displayName,
  formatted: user.formatted,
  givenName: user.givenName,
  familyName: user.familyName,
  emails: user.emails.map(({ value, type, primary, display }) => ({ value, type, primary, display })),
  active: user.active,
})

const maxNameLength = 200

/** Returns the name, user name and e-mail address of the person as other people see them. */
export function describePerson(user: ScimUser): { name: string; username: string; email: string } {
  const { userName, displayName, formatted, givenName, familyName, emails } = user
  const parts = [givenName, familyName].filter((part) => part !== null).join(' ')
  const email =
    emails.find(({ primary }) => primary) ??
    emails.find(({ type }) => type?.toLowerCase() === 'work') ??
    emails[0]
  return {
    name: Array.from(displayName ?? formatted ?? parts)
      .slice(0, maxNameLength)
      .join(''),
    username: userName,
    email: email?.value ?? '',
  }
}

/**
 * Returns the values of the person that a change writes. The e-mail address is null, which keeps the stored one, if neither
 * the old nor the new values contain an address: the stored one is then from a sign-in.
 */
export function describeChange(
  before: ScimUser | null,
  after: ScimUser,
): { name: string; username: string; email: string | null } {
  const hadEmails = before !== null && before.emails.length > 0
  const person = describePerson(after)
  return { ...person, email: hadEmails || after.emails.length > 0 ? person.email : null }
}
