// Renders the review as a page for reading, printing and attesting. The summary precedes the entries that
// need a decision.
import { type Html, html } from '../../platform/http/pages/html.ts'
import {
  formatCount,
  formatCountWithNoun,
  renderRow,
  renderTime,
  describeVerdict,
} from '../../platform/http/pages/parts.ts'
import type { Page } from '../../platform/http/pages/send-page.ts'
import {
  type Flag,
  type Recommendation,
  activities,
  flags,
  recommendations,
  scopeTypes,
} from './flags.pure.ts'
import { renderAttestForm } from './attest.page.ts'
import type { ReportHead, DisplayedReport } from './report.service.ts'

type DisplayedEntry = DisplayedReport['entries'][number]

const flagNames: Record<Flag, string> = {
  privileged: 'privileged',
  disabled: 'disabled',
  expired: 'expired',
  expires_soon: 'expires soon',
  no_expiry: 'no expiry',
  credential_not_rotated: 'credential not rotated',
  never_active: 'never active',
  dormant: 'dormant',
  self_granted: 'self-granted',
  unrecorded_grant: 'unrecorded grant',
}
const recommendationNames: Record<Recommendation, string> = {
  revoke: 'Revoke',
  review: 'Review',
  keep: 'Keep',
}
const scopeNames: Record<(typeof scopeTypes)[number], string> = {
  system: 'System',
  project: 'Projects',
  tenant: 'Tenants',
  application: 'Applications',
  environment: 'Environments',
  endpoint: 'Endpoints',
}
const activityNames: Record<(typeof activities)[number], string> = {
  under_30_days: 'Less than 30 days ago',
  under_90_days: 'Less than 90 days ago',
  under_1_year: 'Less than a year ago',
  older: 'Longer ago',
  never: 'Never recorded',
}
const principalNames: Record<string, string> = {
  user: 'user',
  machine_user: 'machine user',
  personal_access_token: 'personal access token',
  scim_token: 'SCIM token',
}

/**
 * Renders a report. `projectId` is the requested project. `formToken` proves that the page was rendered for
 * this user.
 */
export function renderAccessReviewPage(
  { head, entries }: DisplayedReport,
  projectId: string | null,
  formToken: string,
): Page {
  const title = head.scope.type === 'system' ? 'Access review' : `Access review of ${head.scope.name}`
  const scopeQuery = projectId === null ? '' : `project_id=${projectId}&`
  return {
    title,
    isWide: true,
    main: html`<h1>Access review</h1>
      <dl class="facts">${renderFacts(head)}</dl>
      ${renderCharts(head)}
      <h2 id="entries">Entries</h2>
      <p>
        ${describeShownCount(entries.length, head.summary.entries)} Entries that should be revoked come first,
        then entries with the most flags. Download the whole report:
        <a href="?${scopeQuery}format=csv">CSV</a>, <a href="?${scopeQuery}format=json">JSON</a>.
      </p>
      ${renderTable(entries)} ${renderAttestForm(head, entries.length, formToken)}`,
  }
}

const renderFacts = ({
  scope,
  generated_at,
  report_id,
  population_hash,
  summary,
  chain,
}: ReportHead): Html[] => [
  renderRow('Scope', scope.type === 'system' ? 'The whole system' : html`Project <bdi>${scope.name}</bdi>`),
  renderRow('As of', renderTime(generated_at)),
  renderRow(
    'Entries',
    `${formatCount(summary.entries)} held by ${formatCountWithNoun(summary.principals, 'principal', 'principals')}`,
  ),
  renderRow('Activity', html`recorded since ${renderTime(summary.activity_recorded_since)}`),
  renderRow('Audit trail', describeVerdict(chain)),
  renderRow('Report', html`<code>${report_id}</code>`),
  renderRow('Population', html`<code>${population_hash}</code>`),
]

const renderCharts = ({ summary }: ReportHead): Html =>
  html`<div class="charts">
    ${[
      renderChart('Recommendation', 'entries', summary.by_recommendation, [
        recommendations,
        recommendationNames,
      ]),
      renderChart('Access by scope', 'principals', summary.principals_by_scope_type, [
        scopeTypes,
        scopeNames,
      ]),
      renderChart('Last activity', 'entries', summary.by_last_activity, [activities, activityNames]),
      renderChart('Flags', 'entries', summary.by_flag, [flags, flagNames]),
    ]}
  </div>`

const singularNouns = { entries: 'entry', principals: 'principal' } as const

/** Renders a table with one bar per row. The bars are scaled to the largest count. */
function renderChart<Name extends string>(
  title: string,
  unit: keyof typeof singularNouns,
  counts: Readonly<Record<Name, number>>,
  [order, names]: [readonly Name[], Readonly<Record<Name, string>>],
): Html {
  const largestCount = Math.max(1, ...order.map((name) => counts[name]))
  const rows = order.map((name) => {
    const barWidth = Math.round((counts[name] / largestCount) * 1_000) / 10
    const label = `${names[name]}: ${formatCountWithNoun(counts[name], singularNouns[unit], unit)}`
    return html`<tr>
      <th scope="row" class="label">${names[name]}</th>
      <td class="number">${formatCount(counts[name])}</td>
      <td class="bar">
        <svg viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label="${label}">
          <rect class="track" width="100" height="10"></rect>
          <rect class="fill" width="${barWidth}" height="10"></rect>
        </svg>
      </td>
    </tr>`
  })
  return html`<table class="chart">
    <caption>
      ${title}
      <span class="soft">(${unit})</span>
    </caption>
    <tbody>
      ${rows}
    </tbody>
  </table>`
}

const describeShownCount = (shownCount: number, totalCount: number): string => {
  if (totalCount === 0) return 'No access entries.'
  if (totalCount === 1) return 'One entry.'
  return shownCount === totalCount
    ? `All ${formatCount(totalCount)} entries.`
    : `The first ${formatCount(shownCount)} of ${formatCount(totalCount)} entries.`
}

const renderTable = (entries: readonly DisplayedEntry[]): Html =>
  html`<div class="scroll" role="region" aria-labelledby="entries" tabindex="0">
    <table class="entries">
      <thead>
        <tr>
          <th scope="col" class="who">Who</th>
          <th scope="col" class="what">Access to</th>
          <th scope="col" class="role">Role</th>
          <th scope="col">Granted</th>
          <th scope="col">Last active</th>
          <th scope="col" class="flags">Flags</th>
          <th scope="col">Advice</th>
          <th scope="col">Attested</th>
        </tr>
      </thead>
      <tbody>
        ${entries.map(renderEntry)}
      </tbody>
    </table>
  </div>`

function renderEntry(entry: DisplayedEntry): Html {
  const { name, email, principal_type, scope_type, scope_name, project_name, recommendation } = entry
  const attestation = entry.last_attestation
  const details = [principalNames[principal_type] ?? principal_type, email].filter((text) => text !== '')
  return html`<tr class="${recommendation}">
    <th scope="row">
      <bdi>${name}</bdi><small><bdi>${details.join(', ')}</bdi></small>
    </th>
    <td><bdi>${scope_name}</bdi><small>${renderScope(scope_type, project_name)}</small></td>
    <td><bdi>${entry.role}</bdi></td>
    <td>${renderDate(entry.granted_at, 'unknown')}${renderExpiry(entry)}</td>
    <td>${renderDate(entry.last_activity_at, 'never')}</td>
    <td>${entry.flags.map((flag) => html`<span class="flag">${flagNames[flag]}</span> `)}</td>
    <td><strong>${recommendationNames[recommendation]}</strong></td>
    <td>
      ${attestation === null ? 'never' : html`${renderDate(attestation.attested_at, '')}<small>${attestation.decision}</small>`}
    </td>
  </tr> `
}

const renderScope = (type: string, project: string | null): Html | string => {
  if (project === null) return ''
  return type === 'project' ? 'project' : html`${type} in <bdi>${project}</bdi>`
}

const renderExpiry = ({ expires_at }: DisplayedEntry): Html | null =>
  expires_at === null ? null : html`<small>until ${renderDate(expires_at, '')}</small>`

const renderDate = (at: string | null, otherwise: string): Html | string =>
  at === null ? otherwise : html`<time datetime="${at}">${at.slice(0, 10)}</time>`
