// Filters for the list of people. The API combines filters with "and", so each query compares the text with only one
// field.
import type { Filter } from '../../generated/documents.ts'

const uuidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Returns the filters to try for a text, one after the other until one finds people. */
export function createTextFilters(text: string): readonly (readonly Filter[])[] {
  if (text === '') return [[]]
  if (uuidPattern.test(text)) return [[{ field: 'id', value: text }]]
  const fields = text.includes('@')
    ? ['externalEmail', 'externalUsername']
    : ['externalName', 'externalUsername']
  return fields.map((field) => [{ field, value: text }])
}
