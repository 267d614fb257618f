// Translates between people and LDAP: search texts to filters, and entries to users. Entries are untrusted.
import type { Entry } from 'ldapts'
import { parseUuid } from '../ids.ts'
import type { DirectoryUser } from './directory.ts'

/** The attributes of an entry that contain the fields of a user. */
export type LdapAttributes = {
  id: string
  username: string
  email: string
  name: string
  /** Null if the directory has no disabled accounts. */
  disabled: string | null
}

const maxNameLength = 200
const maxEmailLength = 320
const guidLength = 16

const isSameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

/** Whether the attribute contains binary UUIDs of Active Directory. */
export const isGuidAttribute = (attribute: string): boolean => isSameName(attribute, 'objectGUID')

/** Returns the text with the characters escaped that have a meaning in filters (RFC 4515). */
export const escapeFilterValue = (text: string): string =>
  text.replaceAll(/[\\*()\0]/g, (character) => `\\${character.charCodeAt(0).toString(16).padStart(2, '0')}`)

const minContainsLength = 3

/**
 * Returns the filter for a search text. Texts shorter than three characters must match the start, as in the local
 * directory.
 */
export function createSearchFilter(
  { userFilter, searchFilter }: { userFilter: string; searchFilter: string | null },
  attributes: LdapAttributes,
  text: string,
): string {
  const value = escapeFilterValue(text.toWellFormed())
  const pattern = Array.from(text).length < minContainsLength ? `${value}*` : `*${value}*`
  const names = [...new Set([attributes.name, attributes.username, attributes.email])]
  const template = searchFilter ?? `(|${names.map((name) => `(${name}={pattern})`).join('')})`
  // Both placeholders are replaced in one pass, because the text can contain a placeholder.
  const filter = template.replaceAll(/\{(text|pattern)\}/g, (_match, name) =>
    name === 'text' ? value : pattern,
  )
  return `(&${userFilter}${filter})`
}

/** Returns the stored form of a user id. */
export const encodeId = (attribute: string, id: string): string | Buffer =>
  isGuidAttribute(attribute) ? encodeGuid(id) : id

/** Returns the attributes to request. */
export const listAttributes = ({ disabled, ...others }: LdapAttributes): string[] => [
  ...new Set([...Object.values(others), ...(disabled === null ? [] : [disabled])]),
]

/** Returns the user of an entry, or null if the entry has no valid id. */
export function readPerson(entry: Entry, attributes: LdapAttributes): DirectoryUser | null {
  const id = readId(entry, attributes.id)
  if (id === null) return null
  const read = (name: string, maxLength: number): string =>
    readTexts(entry, name).find((text) => text.length <= maxLength) ?? ''
  const email = readTexts(entry, attributes.email).find(isEmail) ?? ''
  // A name that is too long is still useful, but a part of an address or user name is a different one.
  const [name = ''] = readTexts(entry, attributes.name)
  return {
    id,
    username: read(attributes.username, maxEmailLength) || email || id,
    email,
    displayName: name.slice(0, maxNameLength).toWellFormed(),
    disabled: attributes.disabled !== null && isDisabled(entry, attributes.disabled),
  }
}

const isEmail = (text: string): boolean => text.length <= maxEmailLength && /^[^\s@]+@[^\s@]+$/.test(text)

/** Returns the values of an attribute, whose name can differ in case. */
function readValues(entry: Entry, attribute: string): (string | Buffer)[] {
  const [, value = []] = Object.entries(entry).find(([name]) => isSameName(name, attribute)) ?? []
  return Array.isArray(value) ? value : [value]
}

/** Returns the values that contain printable text. The library returns values that are not UTF-8 as bytes. */
const readTexts = (entry: Entry, attribute: string): string[] =>
  readValues(entry, attribute)
    .filter((value) => typeof value === 'string')
    .map((value) =>
      value
        .slice(0, 2_000)
        .replaceAll(/\p{Cc}+/gu, ' ')
        .trim(),
    )
    .filter((value) => value !== '')

function readId(entry: Entry, attribute: string): string | null {
  // Several ids would be several users.
  const values = readValues(entry, attribute)
  const [value] = values
  if (value === undefined || values.length > 1) return null
  if (!isGuidAttribute(attribute)) return typeof value === 'string' ? parseUuid(value) : null
  return decodeGuid(typeof value === 'string' ? Buffer.from(value) : value)
}

/** Active Directory stores the first three groups of a UUID in little-endian order (MS-DTYP 2.3.4). */
export function decodeGuid(bytes: Buffer): string | null {
  if (bytes.length !== guidLength) return null
  const hex = swapGroups(bytes).toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

/** Returns the binary form of a UUID in Active Directory. */
export const encodeGuid = (id: string): Buffer => swapGroups(Buffer.from(id.replaceAll('-', ''), 'hex'))

const swapGroups = (bytes: Buffer): Buffer =>
  Buffer.concat([
    bytes.subarray(0, 4).toReversed(),
    bytes.subarray(4, 6).toReversed(),
    bytes.subarray(6, 8).toReversed(),
    bytes.subarray(8),
  ])

const accountDisabled = 2

/** An account whose state cannot be read counts as disabled, so that it receives no role. */
function isDisabled(entry: Entry, attribute: string): boolean {
  const [value] = readValues(entry, attribute)
  if (value === undefined) return false
  if (!isSameName(attribute, 'userAccountControl')) return String(value).toUpperCase() !== 'FALSE'
  return typeof value !== 'string' || !/^-?\d{1,10}$/.test(value) || (Number(value) & accountDisabled) !== 0
}
