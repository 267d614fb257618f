// This file renders the attestation form at the end of a review and the page that confirms a recorded attestation.
import { type Html, html } from '../../platform/http/pages/html.ts'
import { formatCount, row, time } from '../../platform/http/pages/parts.ts'
import type { Page } from '../../platform/http/pages/send-page.ts'
import type { AttestService } from './attest.service.ts'
import type { ReportHead } from './report.service.ts'

type Attested = Awaited<ReturnType<AttestService['attest']>>

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
 * Renders the form. `shown` is the number of entries on the page; `formToken` proves that the page was rendered for
 * this user.
 */
export const attestForm = (
  { report_id, scope, summary }: ReportHead,
  shown: number,
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
        <legend>Decision (${everything(summary.entries)})</legend>
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
        <span>${confirmation(scope, summary.entries - shown)}</span>
      </label>
      <button type="submit">Attest</button>
    </form>
    <p class="soft">
      To decide about single entries, send <code>POST /api/access/review/attest</code> with the id of this
      report and the entries.
    </p>
  </section>`

const everything = (entries: number): string =>
  entries === 1 ? 'the one entry' : `all ${formatCount(entries)} entries`

function confirmation(scope: ReportHead['scope'], hidden: number): Html {
  const where = scope.type === 'system' ? 'the whole system' : html`the project <bdi>${scope.name}</bdi>`
  const also =
    hidden > 0
      ? `, including the ${hidden === 1 ? 'entry that is' : `${formatCount(hidden)} entries that are`} not on this page`
      : ''
  return html`I have reviewed the access to ${where}${also}, and take responsibility for this decision.`
}

/** Renders the recorded attestation and the steps that remain. */
export function attestedPage(attested: Attested): Page {
  const { name, next } = decisions[attested.decision]
  const query = attested.projectId === null ? '' : `?project_id=${attested.projectId}`
  return {
    title: 'Attested',
    main: html`<h1>Attested</h1>
      <p>Your decision is in the audit trail. ${next}</p>
      <dl>${factsOf(attested, name)}</dl>
      <p><a href="review${query}">Open the review again</a></p>`,
  }
}

const factsOf = (attested: Attested, decision: string): Html[] => [
  row('Decision', decision),
  row('Entries', everything(attested.entries)),
  row('Recorded', time(attested.createdAt)),
  row('Comment', attested.comment === '' ? 'none' : html`<bdi class="lines">${attested.comment}</bdi>`),
  row('Attestation', html`<code>${attested.id}</code>`),
  row('Report', html`<code>${attested.reportId ?? ''}</code>`),
  row('Population', html`<code>${attested.populationHash}</code>`),
]
