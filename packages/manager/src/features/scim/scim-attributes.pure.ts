// The attributes of SCIM users and groups, and their limits. The names of attributes ignore case (RFC 7643, section 2.1), so
// they are compared in lower case.

export const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User'
export const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group'

/** An attribute by its names in lower case. The name of an attribute of another schema contains its URN. */
export type AttributePath = { readonly name: string; readonly sub: string | null }

/** A value in a filter. */
export type ScimValue = string | number | boolean | null

const schemaPrefixes = [userSchema, groupSchema].map((schema) => `${schema.toLowerCase()}:`)

/** Parses `name`, `name.sub` or either of them after a URN; returns null if the text has a different form. */
export function parseAttributePath(text: string): AttributePath | null {
  const lowerCaseText = text.toLowerCase()
  const prefix = schemaPrefixes.find((one) => lowerCaseText.startsWith(one)) ?? ''
  const local = lowerCaseText.slice(prefix.length)
  // The URN of another schema contains dots, which separate nothing.
  if (local.includes(':')) return { name: local, sub: null }
  const [name = '', sub, ...others] = local.split('.')
  if (name === '' || sub === '' || others.length > 0) return null
  return { name, sub: sub ?? null }
}

/** Returns the name of the attribute for messages, in lower case. */
export const formatAttributePath = ({ name, sub }: AttributePath): string =>
  sub === null ? name : `${name}.${sub}`

/** The single-valued text attributes of a user, by their path in lower case. */
export const textAttributes = {
  username: { field: 'userName', label: 'userName', maxLength: 320 },
  externalid: { field: 'externalId', label: 'externalId', maxLength: 320 },
  displayname: { field: 'displayName', label: 'displayName', maxLength: 200 },
  'name.formatted': { field: 'formatted', label: 'name.formatted', maxLength: 200 },
  'name.givenname': { field: 'givenName', label: 'name.givenName', maxLength: 200 },
  'name.familyname': { field: 'familyName', label: 'name.familyName', maxLength: 200 },
} as const

export type TextAttribute = (typeof textAttributes)[keyof typeof textAttributes]

/** Returns the text attribute with this path, or null. */
export const findTextAttribute = (path: AttributePath): TextAttribute | null => {
  const key = formatAttributePath(path)
  return Object.hasOwn(textAttributes, key) ? textAttributes[key as keyof typeof textAttributes] : null
}

/** The text attributes of a group. */
export const groupTextAttributes = {
  displayName: { label: 'displayName', maxLength: 200 },
  externalId: { label: 'externalId', maxLength: 320 },
} as const

/** Limits on the e-mail addresses of a user. */
export const emailLimits = { count: 20, valueLength: 320, typeLength: 50, displayLength: 200 } as const
