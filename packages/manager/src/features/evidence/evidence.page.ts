// These pages show the list of evidence queries, and the rows of a query in a time window, for reading and
// printing.
import { type Html, html } from '../../platform/http/pages/html.ts'
import { formatCount, renderRow, renderTime, describeVerdict } from '../../platform/http/pages/parts.ts'
import type { Page } from '../../platform/http/pages/send-page.ts'
import type { EvidenceRun, EvidenceService } from './evidence.service.ts'
import { renderCell, buildColumns } from './evidence-table.page.ts'

type Query = ReturnType<EvidenceService['list']>[number]
type DisplayedRun = Pick<EvidenceRun, 'name' | 'from' | 'to' | 'generatedAt' | 'chain' | 'columns'> &
  Partial<Query>
type Rows = { rows: readonly Record<string, unknown>[]; hasMore: boolean }

const dayMs = 86_400_000

/** Lists every query with its description and a link to its page. */
export const renderEvidenceListPage = (queries: readonly Query[]): Page => ({
  title: 'Evidence',
  isWide: true,
  main: html`<h1>Evidence</h1>
    <p>
      Queries over the records of the Manager, for audits. Each query shows the last 90 days by default. You
      can choose a different window and download the rows as CSV or JSON. Every run is recorded in the audit
      trail.
    </p>
    <ul class="queries">
      ${queries.map(
        ({ name, title, description, controls }) =>
          html`<li>
            <h2><a href="${`evidence/${name}`}">${title}</a></h2>
            <p>${renderProse(description)}</p>
            <p class="soft">Evidence for ${controls.join(', ')}</p>
          </li>`,
      )}
    </ul>`,
})

/** Renders text in which backticks mark code. */
const renderProse = (text: string): Html[] =>
  text.split('`').map((part, index) => (index % 2 === 0 ? html`${part}` : html`<code>${part}</code>`))

/** Shows the window, the verification status of the audit trail, and the rows that fit on a page. */
export function renderEvidencePage(run: DisplayedRun, { rows, hasMore }: Rows): Page {
  const { name, title = name, description = '', controls = [] } = run
  const window = `?from=${run.from.toISOString()}&to=${run.to.toISOString()}`
  return {
    title: `Evidence: ${title}`,
    isWide: true,
    main: html`<p><a href="../evidence">All evidence queries</a></p>
      <h1>${title}</h1>
      <p>${renderProse(description)}</p>
      <p class="soft">Evidence for ${controls.join(', ')}</p>
      <dl class="facts">${renderFacts(run)}</dl>
      ${renderWindowForm(run)}
      <h2 id="rows">Rows</h2>
      <p>
        ${describeRowCount(rows.length, hasMore)} Download all rows and columns:
        <a href="${`${window}&format=csv`}">CSV</a>, <a href="${`${window}&format=json`}">JSON</a>.
      </p>
      ${rows.length === 0 ? null : renderTable(run.columns, rows)}`,
  }
}

const renderFacts = ({ from, to, generatedAt, chain }: DisplayedRun): Html[] => [
  renderRow(
    'Window',
    html`from ${renderTime(from.toISOString())} until ${renderTime(to.toISOString())} (exclusive)`,
  ),
  renderRow('As of', renderTime(generatedAt)),
  renderRow('Audit trail', describeVerdict(chain)),
]

const describeRowCount = (rowCount: number, hasMore: boolean): string => {
  if (rowCount === 0) return 'This window contains no rows.'
  if (hasMore) return `The first ${formatCount(rowCount)} rows are shown; more rows exist.`
  return rowCount === 1 ? 'One row.' : `All ${formatCount(rowCount)} rows.`
}

const formatDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

const renderWindowForm = ({ from, to }: DisplayedRun): Html =>
  html`<form method="get" class="window">
    <p class="field">
      <label for="from">From</label>
      <input type="date" id="from" name="from" value="${formatDay(from.getTime())}" />
    </p>
    <p class="field">
      <label for="to">Until (not included)</label>
      <input type="date" id="to" name="to" value="${formatDay(Math.ceil(to.getTime() / dayMs) * dayMs)}" />
    </p>
    <button type="submit">Show</button>
    <p class="soft">
      Days start at midnight UTC. Without a start date, the window covers the 90 days before its end.
    </p>
  </form>`

function renderTable(names: readonly string[], rows: readonly Record<string, unknown>[]): Html {
  const columns = buildColumns(names, rows)
  return html`<div class="scroll" role="region" aria-labelledby="rows" tabindex="0">
    <table class="${columns.length > 6 ? 'entries evidence many' : 'entries evidence'}">
      <thead>
        <tr>
          ${columns.map(({ title, isLong }) => html`<th scope="col" class="${isLong ? 'long' : ''}">${title}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (one) =>
            html`<tr>
              ${columns.map((column) => html`<td>${renderCell(column, one)}</td>`)}
            </tr> `,
        )}
      </tbody>
    </table>
  </div>`
}
