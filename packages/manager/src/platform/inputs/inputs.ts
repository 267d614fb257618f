// Validation rules for text that people type; each message names the field and the rule.
import { badRequest } from '../errors.ts'

const slugPattern = /^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$/
// eslint-disable-next-line no-control-regex -- the expression must match control characters
const controlCharacters = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/

/** Whether the text contains control characters or malformed Unicode. */
export const hasForbiddenCharacters = (value: string): boolean =>
  controlCharacters.test(value) || !value.isWellFormed()

/** Whether the text has more than `maxLength` characters, counted like char_length in PostgreSQL. */
export const isLongerThan = (text: string, maxLength: number): boolean =>
  text.length > maxLength && (text.length > 2 * maxLength || Array.from(text).length > maxLength)

/** Returns a name of 1 to `maxLength` characters; throws 400 if it is blank or has forbidden characters. */
export function checkName(value: string, field = 'name', maxLength = 100): string {
  if (value.trim() === '' || isLongerThan(value, maxLength))
    throw badRequest(`${field} must have 1 to ${maxLength} characters`)
  return checkText(value, field, maxLength)
}

/** Returns the text, possibly empty; throws 400 if it is too long or has forbidden characters. */
export function checkText(value: string, field: string, maxLength: number): string {
  if (isLongerThan(value, maxLength)) throw badRequest(`${field} must have at most ${maxLength} characters`)
  if (hasForbiddenCharacters(value))
    throw badRequest(`${field} must not contain control characters or malformed Unicode`)
  return value
}

/** Returns a slug of up to 64 lower-case letters, digits and inner hyphens; throws 400 for any other text. */
export function checkSlug(value: string): string {
  if (!slugPattern.test(value))
    throw badRequest(
      'slug must be 1 to 64 lower-case letters, digits or hyphens, without a hyphen at either end',
    )
  return value
}

/** Returns the value if it is one of the allowed words; throws 400 otherwise. */
export function checkOneOf<const T extends string>(
  value: string,
  field: string,
  allowedValues: readonly T[],
): T {
  const match = allowedValues.find((word) => word === value)
  if (match === undefined) throw badRequest(`${field} must be one of ${allowedValues.join(', ')}`)
  return match
}

type Changes<T, Nullable extends keyof T> = { [K in Exclude<keyof T, Nullable>]?: NonNullable<T[K]> } & {
  [K in Nullable]?: Exclude<T[K], undefined>
}

/**
 * Returns the fields that an update changes: an absent field stays unchanged, and null clears a nullable field. In any
 * other field, null means the same as absent.
 */
export function selectChanges<T extends object>(input: T): Changes<T, never>
export function selectChanges<T extends object, Nullable extends keyof T>(
  input: T,
  nullable: readonly Nullable[],
): Changes<T, Nullable>
export function selectChanges(input: object, nullable: readonly string[] = []): object {
  const changedEntries = Object.entries(input).filter(
    ([name, value]) => value !== undefined && (value !== null || nullable.includes(name)),
  )
  return Object.fromEntries(changedEntries)
}
