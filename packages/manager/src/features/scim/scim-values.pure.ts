// Reads single values of SCIM bodies. Each error names the attribute and the rule.
import { hasForbiddenCharacters, isLongerThan } from '../../platform/inputs/inputs.ts'
import { scimBadRequest } from './scim-errors.pure.ts'

/** A text attribute: its name in messages, and its maximum number of characters. */
export type TextRule = { label: string; maxLength: number }

export const invalidValue = (message: string): Error => scimBadRequest('invalidValue', message)

/** The members of a JSON object, by their names in lower case. */
export function readMembers(value: unknown, label: string): ReadonlyMap<string, unknown> {
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw scimBadRequest('invalidSyntax', `${label} must be a JSON object`)
  return new Map(Object.entries(value).map(([name, member]) => [name.toLowerCase(), member]))
}

/** Returns the text, or null if it is null, absent or empty. */
export function readText(value: unknown, { label, maxLength }: TextRule): string | null {
  if (value === null || value === undefined || value === '') return null
  if (typeof value !== 'string') throw invalidValue(`${label} must be a string`)
  if (isLongerThan(value, maxLength)) throw invalidValue(`${label} must have at most ${maxLength} characters`)
  if (hasForbiddenCharacters(value))
    throw invalidValue(`${label} must not contain control characters or malformed Unicode`)
  return value
}

/** Returns the text. Throws if it is blank. */
export function readRequiredText(value: unknown, rule: TextRule): string {
  const text = readText(value, rule) ?? ''
  if (text.trim() === '') throw invalidValue(`${rule.label} is required and must not be blank`)
  return text
}

/** Reads a boolean, also in the form "True" or "False", which Entra ID sends. */
export function readBoolean(value: unknown, label: string): boolean {
  if (typeof value === 'boolean') return value
  const word = typeof value === 'string' && value.length <= 5 ? value.toLowerCase() : ''
  if (word !== 'true' && word !== 'false') throw invalidValue(`${label} must be true or false`)
  return word === 'true'
}
