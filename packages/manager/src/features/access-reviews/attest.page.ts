// Attesting in a browser: the form at the end of a review, and what is shown once it is recorded.
import { type Html, html } from '../../platform/http/pages/html.ts'
import { counted, row, time } from '../../platform/http/pages/parts.ts'
import type { Page } from '../../platform/http/pages/send-page.ts'
import type { AttestService } from './attest.service.ts'
import type { ReportHead } from './report.service.ts'

type Attested = Awaited<ReturnType<AttestService['attest']>>

const decisions = {
  approve: {
    name: 'Approve',
    meaning: 'this access is right',
    next: 'Nothing is left to do: this access stays as it is.',
  },
  revoke: {
    name: 'Revoke',
    meaning: 'this access has to end',
    next: 'It changed no access: take away what you decided to revoke, with the usual operations.',
  },
  modify: {
    name: 'Modify',
    meaning: 'this access has to change',
    next: 'It changed no access: change what you decided to modify, with the usual operations.',
  },
}

/** The form about a report of which the page shows so many entries; `formToken` proves that this person was shown it. */
export const attestForm = (
  { report_id, scope, summary }: ReportHead,
  shown: number,
  formToken: string,
): Html =>
  html`<section class="attest" aria-labelledby="attest">
    <h2 id="attest">Attest</h2>
    <p>
      An attestation records that you have looked at this access and answer for it. It does not change access.
      Revoke or modify access with the usual operations. It is refused when access has changed since this page
      was made.
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
        Optional, at most 2,000 characters. It is kept with the attestation and in the audit trail.
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
  entries === 1 ? 'the one entry' : `all ${counted(entries)} entries`

function confirmation(scope: ReportHead['scope'], hidden: number): Html {
  const where = scope.type === 'system' ? 'the whole system' : html`the project <bdi>${scope.name}</bdi>`
  const also =
    hidden > 0
      ? `, also the ${hidden === 1 ? 'entry that is' : `${counted(hidden)} entries that are`} not on this page`
      : ''
  return html`I have looked at the access to ${where}${also}, and answer for this decision.`
}

/** Says what was recorded, and what is left to do. */
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
  row('About', everything(attested.entries)),
  row('Recorded', time(attested.createdAt)),
  row('Comment', attested.comment === '' ? 'none' : html`<bdi class="lines">${attested.comment}</bdi>`),
  row('Attestation', html`<code>${attested.id}</code>`),
  row('Report', html`<code>${attested.reportId ?? ''}</code>`),
  row('Population', html`<code>${attested.populationHash}</code>`),
]
