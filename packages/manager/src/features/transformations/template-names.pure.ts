// The names that templates know. What comes after `.Data` is the body's.
import { templateVariables } from './template-functions.pure.ts'

/** What a template sees; null is what differs from body to body. */
const known = {
  Data: null,
  Application: ['ID', 'Name', 'Slug', 'Description'],
  Endpoint: ['ID', 'Name', 'ConsumeURL', 'URL', 'Description'],
  User: ['ID', 'Username', 'Name'],
  Meta: ['Timestamp', 'RequestTime'],
  Env: templateVariables,
} as const

type Known = typeof known
/** What templates see of a call, beside its body, its time and the environment. */
export type CallNames = {
  [Name in 'Application' | 'Endpoint' | 'User']: { [Field in Known[Name][number]]: string }
}

/** What is wrong with a chain of fields, as a text; null when nothing is. */
export function problemOfName([first = '', second]: readonly string[]): string | null {
  if (!Object.hasOwn(known, first)) return unknown(`.${first}`, '', Object.keys(known))
  const fields: readonly string[] | null = known[first as keyof Known]
  if (fields === null || second === undefined || fields.includes(second)) return null
  return unknown(`.${first}.${second}`, `.${first}`, fields)
}

const maxNameLength = 80

/** Names in templates may have kilobytes. */
export const shortened = (text: string, maxLength = maxNameLength): string =>
  text.length <= maxLength ? text : `${text.slice(0, maxLength).toWellFormed()}…`

const unknown = (name: string, before: string, others: readonly string[]): string =>
  `${shortened(name)} is not a name that templates know; use one of ${others.map((other) => `${before}.${other}`).join(', ')}`
