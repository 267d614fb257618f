// Rules for texts that people type; each message names the field and the rule.
import { badRequest } from '../errors.ts'

const slugForm = /^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$/
// eslint-disable-next-line no-control-regex -- control characters are exactly what is looked for
const controlCharacters = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/

/** True for text that holds control characters or broken Unicode. */
export const hasForbiddenCharacters = (value: string): boolean =>
  controlCharacters.test(value) || !value.isWellFormed()

/**
 * Whether a text has more characters than this, counted as PostgreSQL's char_length does; a far longer one is not
 * counted.
 */
export const isLongerThan = (text: string, maxLength: number): boolean =>
  text.length > maxLength && (text.length > 2 * maxLength || Array.from(text).length > maxLength)

/** A name of 1 to 100 characters that is not blank and holds no control characters. */
export function checkName(value: string, field = 'name', maxLength = 100): string {
  if (value.trim() === '' || isLongerThan(value, maxLength))
    throw badRequest(`${field} must have 1 to ${maxLength} characters`)
  return checkText(value, field, maxLength)
}

/** A text, possibly empty, of limited length. */
export function checkText(value: string, field: string, maxLength: number): string {
  if (isLongerThan(value, maxLength)) throw badRequest(`${field} must have at most ${maxLength} characters`)
  if (hasForbiddenCharacters(value))
    throw badRequest(`${field} must not contain control characters or broken Unicode`)
  return value
}

/** A slug: lower-case letters, digits and inner hyphens, at most 64 characters. */
export function checkSlug(value: string): string {
  if (!slugForm.test(value))
    throw badRequest(
      'slug must be 1 to 64 lower-case letters, digits or hyphens, without a hyphen at either end',
    )
  return value
}

/** One of a closed list of words. */
export function checkOneOf<const T extends string>(value: string, field: string, allowed: readonly T[]): T {
  const found = allowed.find((word) => word === value)
  if (found === undefined) throw badRequest(`${field} must be one of ${allowed.join(', ')}`)
  return found
}

type Changes<T, Nullable extends keyof T> = { [K in Exclude<keyof T, Nullable>]?: NonNullable<T[K]> } & {
  [K in Nullable]?: Exclude<T[K], undefined>
}

/**
 * What an update changes: an absent field stays, null clears a field that is nullable. In any other field null means the
 * same as absent.
 */
export function changesOf<T extends object>(input: T): Changes<T, never>
export function changesOf<T extends object, Nullable extends keyof T>(
  input: T,
  nullable: readonly Nullable[],
): Changes<T, Nullable>
export function changesOf(input: object, nullable: readonly string[] = []): object {
  const kept = Object.entries(input).filter(
    ([name, value]) => value !== undefined && (value !== null || nullable.includes(name)),
  )
  return Object.fromEntries(kept)
}
