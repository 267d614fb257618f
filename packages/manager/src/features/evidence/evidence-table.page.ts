// The page shows the columns for people. An entity is shown by its name and type, and columns that only programs need
// are omitted. The CSV has every column.
import { type Html, html } from '../../platform/http/pages/html.ts'

type Row = Readonly<Record<string, unknown>>
/** `beside` are columns that are shown below the first one. `instead` is shown if the first one has no value. */
type Column = { title: string; name: string; isLong: boolean; beside: string[]; instead: string | null }

const [maxText, maxLines] = [200, 12]
const technical = new Set(['chain_id', 'seq', 'hash', 'user_agent'])
const long = new Set(['description', 'changes', 'attestation', 'failure', 'reason', 'path', 'sha256'])
const titles: Readonly<Record<string, string>> = { ip_address: 'Address', description: 'What' }

/** Returns the columns of the table, without columns that are empty in all rows. */
export function columnsOf(names: readonly string[], rows: readonly Row[]): Column[] {
  const own = new Set(names)
  const beside = new Map<string, string[]>()
  for (const name of names) {
    const [, prefix] = /^(.+)_name$/.exec(name) ?? []
    if (prefix !== undefined) beside.set(name, [`${prefix}_type`, `${prefix}_email`])
  }
  if (own.has('description')) beside.set('description', ['entity_type', 'action'])
  const isBeside = new Set([...beside.values()].flat())
  return names
    .filter((name) => !technical.has(name) && !name.endsWith('_id') && !isBeside.has(name))
    .map((name) => {
      const prefix = name.replace(/_name$/, '')
      return {
        title: titles[name] ?? titleOf(prefix),
        name,
        isLong: long.has(name),
        beside: (beside.get(name) ?? []).filter((one) => own.has(one)),
        instead: own.has(`${prefix}_id`) ? `${prefix}_id` : null,
      }
    })
    .filter(({ name, instead }) => rows.some((row) => hasValue(row[name]) || hasValue(row[instead ?? ''])))
}

const hasValue = (value: unknown): boolean => value !== null && value !== undefined

const titleOf = (name: string): string => {
  const words = name.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

export function cellOf({ name, beside, instead }: Column, row: Row): Html {
  const main =
    hasValue(row[name]) || instead === null ? valueOf(row[name]) : html`<code>${textOf(row[instead])}</code>`
  const more = beside.map((one) => textOf(row[one])).filter((text) => text !== '')
  return more.length === 0 ? main : html`${main}<small><bdi>${more.join(', ')}</bdi></small>`
}

const instantForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/

function valueOf(value: unknown): Html {
  if (typeof value === 'string' && instantForm.test(value))
    return html`<time datetime="${value}">${value.slice(0, 19).replace('T', ' ')}</time>`
  if (typeof value !== 'object' || value === null) return html`<bdi>${textOf(value)}</bdi>`
  const lines = Object.entries(value)
  const hidden = lines.length - maxLines
  return html`<ul class="fields">
    ${lines.slice(0, maxLines).map(([field, one]) => html`<li>${field}: <bdi>${changeOf(one)}</bdi></li>`)}
    ${hidden > 0 ? html`<li>and ${hidden} more</li>` : null}
  </ul>`
}

/** Shows a change as before and after, and any other value unchanged. */
function changeOf(value: unknown): string {
  if (typeof value !== 'object' || value === null || !('before' in value && 'after' in value))
    return textOf(value)
  const [before, after] = [textOf(value.before), textOf(value.after)]
  if (before === '') return after
  return after === '' ? `${before} → nothing` : `${before} → ${after}`
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length <= maxText ? text : `${text.slice(0, maxText).toWellFormed()}…`
}
