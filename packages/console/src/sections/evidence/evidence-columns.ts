// Which columns of a run the table shows. Columns for programs are only in the panel and in the CSV.
import type { EvidenceRow } from './evidence.ts'

export type EvidenceColumn = {
  readonly name: string
  readonly title: string
  /** Secondary columns, shown below the value. */
  readonly details: readonly string[]
  /** The column that is shown if the value is empty. */
  readonly fallback: string | null
  readonly isLong: boolean
}

const technical = new Set(['chain_id', 'seq', 'hash', 'user_agent'])
const long = new Set(['description', 'changes', 'attestation', 'failure', 'reason', 'path', 'sha256'])

/** An object without fields, such as the changes of a read, counts as missing. */
const hasValue = (value: unknown): boolean =>
  value !== null &&
  value !== undefined &&
  value !== '' &&
  (typeof value !== 'object' || Object.keys(value).length > 0)

const acronyms: ReadonlyMap<string, string> = new Map([
  ['ip', 'IP'],
  ['sha256', 'SHA-256'],
  ['url', 'URL'],
])

/** Turns `principal_name` into `Principal name`. */
export const toTitle = (name: string): string => {
  const words = name
    .split('_')
    .map((word) => acronyms.get(word) ?? word)
    .join(' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Returns the columns that belong below the value of another one. */
function listDetails(name: string): readonly string[] {
  if (name === 'description') return ['entity_type', 'action']
  return name.endsWith('_name') ? ['type', 'email'].map((end) => name.replace(/name$/, end)) : []
}

/** Returns the columns of the table, without columns that are empty in all rows. */
export function listColumns(
  names: readonly string[],
  rows: readonly EvidenceRow[],
): readonly EvidenceColumn[] {
  const known = new Set(names)
  const details = new Set(names.flatMap(listDetails))
  return names
    .filter((name) => !technical.has(name) && !name.endsWith('_id') && !details.has(name))
    .map((name): EvidenceColumn => {
      const prefix = name.replace(/_name$/, '')
      return {
        name,
        title: toTitle(prefix),
        details: listDetails(name).filter((detail) => known.has(detail)),
        fallback: known.has(`${prefix}_id`) ? `${prefix}_id` : null,
        isLong: long.has(name),
      }
    })
    .filter(({ name, fallback }) =>
      rows.some((row) => hasValue(row[name]) || (fallback !== null && hasValue(row[fallback]))),
    )
}

const instantPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/
export const isInstant = (value: unknown): value is string =>
  typeof value === 'string' && instantPattern.test(value)

const isChange = (value: unknown): value is { before: unknown; after: unknown } =>
  typeof value === 'object' && value !== null && 'before' in value && 'after' in value

/** Returns a value as one line of text; an empty text if there is none. */
export function toText(value: unknown): string {
  if (!hasValue(value)) return ''
  if (isChange(value)) {
    const [before, after] = [toText(value.before), toText(value.after)]
    if (before === '') return after
    return `${before} → ${after === '' ? '–' : after}`
  }
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return value.map(toText).join(', ')
  return Object.entries(value as object)
    .filter(([, one]) => hasValue(one))
    .map(([field, one]) => `${field}: ${toText(one)}`)
    .join('; ')
}

/** Returns the main text of a cell and the text below it. */
export function toCell(
  { name, details, fallback }: EvidenceColumn,
  row: EvidenceRow,
): readonly [unknown, string] {
  const value = hasValue(row[name]) || fallback === null ? row[name] : row[fallback]
  return [
    value,
    details
      .map((detail) => toText(row[detail]))
      .filter((text) => text !== '')
      .join(', '),
  ]
}

/** Identifies a row in the address: by its position in the audit trail, otherwise by its position in the run. */
export const toRowId = ({ chain_id: chain, seq }: EvidenceRow, index: number): string =>
  typeof chain === 'string' && typeof seq === 'number' ? `${chain}.${seq}` : `row.${index}`

/** Returns the rows that contain a text in any column. */
export function searchRows<Row extends { readonly values: EvidenceRow }>(
  rows: readonly Row[],
  search: string,
): readonly Row[] {
  const text = search.toLowerCase()
  if (text === '') return rows
  return rows.filter(({ values }) =>
    Object.values(values).some((value) => toText(value).toLowerCase().includes(text)),
  )
}
