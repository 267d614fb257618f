// The page shows only the columns that people need. An entity is shown by its name and type, and columns for
// programs are omitted. The CSV contains every column.
import { type Html, html } from '../../platform/http/pages/html.ts'

type Row = Readonly<Record<string, unknown>>
/**
 * Secondary columns are shown below the main column. The fallback column is shown if the main column has
 * no value.
 */
type Column = {
  title: string
  name: string
  isLong: boolean
  secondaryColumns: string[]
  fallbackColumn: string | null
}

const [maxText, maxLines] = [200, 12]
const technicalColumns = new Set(['chain_id', 'seq', 'hash', 'user_agent'])
const longColumns = new Set(['description', 'changes', 'attestation', 'failure', 'reason', 'path', 'sha256'])
const titles: Readonly<Record<string, string>> = { ip_address: 'Address', description: 'What' }

/** Returns the columns of the table, without columns that are empty in all rows. */
export function buildColumns(names: readonly string[], rows: readonly Row[]): Column[] {
  const nameSet = new Set(names)
  const secondaryColumns = new Map<string, string[]>()
  for (const name of names) {
    const [, prefix] = /^(.+)_name$/.exec(name) ?? []
    if (prefix !== undefined) secondaryColumns.set(name, [`${prefix}_type`, `${prefix}_email`])
  }
  if (nameSet.has('description')) secondaryColumns.set('description', ['entity_type', 'action'])
  const secondaryNames = new Set([...secondaryColumns.values()].flat())
  return names
    .filter((name) => !technicalColumns.has(name) && !name.endsWith('_id') && !secondaryNames.has(name))
    .map((name) => {
      const prefix = name.replace(/_name$/, '')
      return {
        title: titles[name] ?? formatTitle(prefix),
        name,
        isLong: longColumns.has(name),
        secondaryColumns: (secondaryColumns.get(name) ?? []).filter((one) => nameSet.has(one)),
        fallbackColumn: nameSet.has(`${prefix}_id`) ? `${prefix}_id` : null,
      }
    })
    .filter(({ name, fallbackColumn }) =>
      rows.some((row) => hasValue(row[name]) || hasValue(row[fallbackColumn ?? ''])),
    )
}

const hasValue = (value: unknown): boolean => value !== null && value !== undefined

const formatTitle = (name: string): string => {
  const words = name.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

export function renderCell({ name, secondaryColumns, fallbackColumn }: Column, row: Row): Html {
  const mainValue =
    hasValue(row[name]) || fallbackColumn === null
      ? renderValue(row[name])
      : html`<code>${formatText(row[fallbackColumn])}</code>`
  const additionalTexts = secondaryColumns.map((one) => formatText(row[one])).filter((text) => text !== '')
  return additionalTexts.length === 0
    ? mainValue
    : html`${mainValue}<small><bdi>${additionalTexts.join(', ')}</bdi></small>`
}

const instantPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/

function renderValue(value: unknown): Html {
  if (typeof value === 'string' && instantPattern.test(value))
    return html`<time datetime="${value}">${value.slice(0, 19).replace('T', ' ')}</time>`
  if (typeof value !== 'object' || value === null) return html`<bdi>${formatText(value)}</bdi>`
  const lines = Object.entries(value)
  const hiddenCount = lines.length - maxLines
  return html`<ul class="fields">
    ${lines.slice(0, maxLines).map(([field, one]) => html`<li>${field}: <bdi>${formatChange(one)}</bdi></li>`)}
    ${hiddenCount > 0 ? html`<li>and ${hiddenCount} more</li>` : null}
  </ul>`
}

/** Formats a change as before and after, and any other value as text. */
function formatChange(value: unknown): string {
  if (typeof value !== 'object' || value === null || !('before' in value && 'after' in value))
    return formatText(value)
  const [before, after] = [formatText(value.before), formatText(value.after)]
  if (before === '') return after
  return after === '' ? `${before} → nothing` : `${before} → ${after}`
}

function formatText(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length <= maxText ? text : `${text.slice(0, maxText).toWellFormed()}…`
}
