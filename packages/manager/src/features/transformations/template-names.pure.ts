// Lists the names that are available to templates. Names after `.Data` come from the body.
import { templateVariables } from './template-functions.pure.ts'

/** Names and fields that templates can read; null if the fields depend on the body. */
const known = {
  Data: null,
  Application: ['ID', 'Name', 'Slug', 'Description'],
  Endpoint: ['ID', 'Name', 'ConsumeURL', 'URL', 'Description'],
  User: ['ID', 'Username', 'Name'],
  Meta: ['Timestamp', 'RequestTime'],
  Env: templateVariables,
} as const

type Known = typeof known
/** Fields of a call that templates can read, besides the body, the time and the environment. */
export type CallNames = {
  [Name in 'Application' | 'Endpoint' | 'User']: { [Field in Known[Name][number]]: string }
}

/** Returns an error message for a chain of fields, or null if it is valid. */
export function findNameProblem([first = '', second]: readonly string[]): string | null {
  if (!Object.hasOwn(known, first)) return unknown(`.${first}`, '', Object.keys(known))
  const fields: readonly string[] | null = known[first as keyof Known]
  if (fields === null || second === undefined || fields.includes(second)) return null
  return unknown(`.${first}.${second}`, `.${first}`, fields)
}

const maxNameLength = 80

/** Shortens a name, because names in templates can be kilobytes long. */
export const shortened = (text: string, maxLength = maxNameLength): string =>
  text.length <= maxLength ? text : `${text.slice(0, maxLength).toWellFormed()}…`

const unknown = (name: string, before: string, others: readonly string[]): string =>
  `${shortened(name)} is not available to templates; use one of ${others.map((other) => `${before}.${other}`).join(', ')}`
