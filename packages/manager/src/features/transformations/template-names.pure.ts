// Lists the names that are available to templates. Names after `.Data` are defined by the body.
import { templateVariables } from './template-functions.pure.ts'

/** Names and fields that templates can read; null if the fields depend on the body. */
const availableNames = {
  Data: null,
  Application: ['ID', 'Name', 'Slug', 'Description'],
  Endpoint: ['ID', 'Name', 'ConsumeURL', 'URL', 'Description'],
  User: ['ID', 'Username', 'Name'],
  Meta: ['Timestamp', 'RequestTime'],
  Env: templateVariables,
} as const

type AvailableNames = typeof availableNames
/** Fields of a call that templates can read, besides the body, the time and the environment. */
export type CallNames = {
  [Name in 'Application' | 'Endpoint' | 'User']: { [Field in AvailableNames[Name][number]]: string }
}

/** Returns an error message for a chain of fields, or null if the chain is valid. */
export function findNameProblem([first = '', second]: readonly string[]): string | null {
  if (!Object.hasOwn(availableNames, first))
    return formatUnknownName(`.${first}`, '', Object.keys(availableNames))
  const fields: readonly string[] | null = availableNames[first as keyof AvailableNames]
  if (fields === null || second === undefined || fields.includes(second)) return null
  return formatUnknownName(`.${first}.${second}`, `.${first}`, fields)
}

const maxNameLength = 80

/** Shortens a name, because names in templates can be kilobytes long. */
export const shorten = (text: string, maxLength = maxNameLength): string =>
  text.length <= maxLength ? text : `${text.slice(0, maxLength).toWellFormed()}…`

const formatUnknownName = (name: string, prefix: string, alternatives: readonly string[]): string =>
  `${shorten(name)} is not available to templates; use one of ${alternatives.map((alternative) => `${prefix}.${alternative}`).join(', ')}`
