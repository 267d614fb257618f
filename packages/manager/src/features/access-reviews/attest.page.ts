// Renders the attestation form at the end of a review, and the page that confirms a recorded attestation.
import { type Html, html } from '../../platform/http/pages/html.ts'
import { formatCount, renderRow, renderTime } from '../../platform/http/pages/parts.ts'
import type { Page } from '../../platform/http/pages/send-page.ts'
import type { AttestService } from './attest.service.ts'
import type { ReportHead } from './report.service.ts'

type RecordedAttestation = Awaited<ReturnType<AttestService['attest']>>

const decisions = {
  approve: {
    name: 'Approve',
    meaning: 'this access is appropriate',
    next: 'No further action is needed: the access is unchanged.',
  },
  revoke: {
    name: 'Revoke',
    meaning: 'this access must be revoked',
    next: 'No access was changed. Revoke the access with the usual operations.',
  },
  modify: {
    name: 'Modify',
    meaning: 'this access must be modified',
    next: 'No access was changed. Modify the access with the usual operations.',
  },
}

/**
 * Renders the form. `shown` is the number of entries on the page. `formToken` proves that the page was
 * rendered for this user.
 */
export const renderAttestForm = (
  { report_id, scope, summary }: ReportHead,
  shownCount: number,
  formToken: string,
): Html =>
  html`<section class="attest" aria-labelledby="attest">
    <h2 id="attest">Attest</h2>
    <p>
      An attestation records that you have reviewed this access and take responsibility for it. It does not
      change access. Revoke or modify access with the usual operations. The attestation is rejected if access
      has changed since this page was generated.
    </p>
    <form method="post" autocomplete="off">
      <input type="hidden" name="report_id" value="${report_id}" />
      <input type="hidden" name="form_token" value="${formToken}" />
      <fieldset>
        <legend>Decision (${describeAllEntries(summary.entries)})</legend>
        ${Object.entries(decisions).map(
          ([value, { name, meaning }]) =>
            html`<label class="check">
              <input type="radio" name="decision" value="${value}" required />
              <span><strong>${name}</strong>: ${meaning}</span>
            </label>`,
        )}
      </fieldset>
      <label for="comment">Comment</label>
      <textarea
        id="comment"
        name="comment"
        rows="4"
        maxlength="2000"
        aria-describedby="about-comment"
      ></textarea>
      <p class="soft" id="about-comment">
        Optional, at most 2,000 characters. The comment is stored with the attestation and in the audit trail.
      </p>
      <label class="check">
        <input type="checkbox" name="confirmed" value="yes" required />
        <span>${renderConfirmation(scope, summary.entries - shownCount)}</span>
      </label>
      <button type="submit">Attest</button>
    </form>
    <p class="soft">
      To decide about individual entries, send <code>POST /api/access/review/attest</code> with the id of this
      report and the entries.
    </p>
  </section>`

const describeAllEntries = (entries: number): string =>
  entries === 1 ? 'the only entry' : `all ${formatCount(entries)} entries`

function renderConfirmation(scope: ReportHead['scope'], hidden: number): Html {
  const scopeText = scope.type === 'system' ? 'the whole system' : html`the project <bdi>${scope.name}</bdi>`
  const hiddenText =
    hidden > 0
      ? `, including the ${hidden === 1 ? 'entry that is' : `${formatCount(hidden)} entries that are`} not on this page`
      : ''
  return html`I have reviewed the access to ${scopeText}${hiddenText}, and take responsibility for this
  decision.`
}

/** Renders the recorded attestation and the remaining steps. */
export function renderAttestedPage(attestation: RecordedAttestation): Page {
  const { name, next } = decisions[attestation.decision]
  const query = attestation.projectId === null ? '' : `?project_id=${attestation.projectId}`
  return {
    title: 'Attested',
    main: html`<h1>Attested</h1>
      <p>Your decision is in the audit trail. ${next}</p>
      <dl>${renderFacts(attestation, name)}</dl>
      <p><a href="review${query}">Open the review again</a></p>`,
  }
}

const renderFacts = (attestation: RecordedAttestation, decision: string): Html[] => [
  renderRow('Decision', decision),
  renderRow('Entries', describeAllEntries(attestation.entries)),
  renderRow('Recorded', renderTime(attestation.createdAt)),
  renderRow(
    'Comment',
    attestation.comment === '' ? 'none' : html`<bdi class="lines">${attestation.comment}</bdi>`,
  ),
  renderRow('Attestation', html`<code>${attestation.id}</code>`),
  renderRow('Report', html`<code>${attestation.reportId ?? ''}</code>`),
  renderRow('Population', html`<code>${attestation.populationHash}</code>`),
]
