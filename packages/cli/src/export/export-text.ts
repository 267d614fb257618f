// Writes a document as YAML or JSON. Equal documents have equal texts.
import type { Format } from '../format.ts'
import { serialize } from '../output.ts'
import type { DocumentMap } from './export-project.ts'

/** Returns the text of a document. The table format has no meaning for a document, so it is YAML, too. */
export const formatDocument = (projects: readonly DocumentMap[], format: Format): string =>
  format === 'json'
    ? serialize(toPlainValue(new Map([['projects', projects]])), 'json')
    : serialize(new Map([['projects', projects]]), 'yaml')

function toPlainValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toPlainValue)
  if (!(value instanceof Map)) return value
  return Object.fromEntries([...value].map(([key, nested]) => [key, toPlainValue(nested)]))
}
