// These pages show a login in the browser. The reader may have received the link from an attacker, so the
// page explains what to compare and when to deny.
import { type Html, html } from '../../platform/http/pages/html.ts'
import type { Page } from '../../platform/http/pages/send-page.ts'

export type ConsentView = {
  userCode: string
  tokenName: string
  ipAddress: string
  /** Whether the terminal is in a different network from the browser. */
  isOtherNetwork: boolean
  userAgent: string
  createdAt: string
  ageSeconds: number
  /** Fingerprint of the terminal's key. */
  fingerprint: string
  tokenDays: number
  formToken: string
  /** The person who is signed in. */
  person: string
}

// A program chooses its own name, which can be very long.
const maxProgramLength = 80

const renderRow = (name: string, value: string | Html): Html =>
  html`<dt>${name}</dt>
    <dd>${value}</dd> `
/** Isolates text that the terminal sent, so that its direction cannot affect the rest of the page. */
const isolateText = (text: string): Html => html`<bdi>${text}</bdi>`

/** Shows the details of the login and the decision form. */
export const renderConsentPage = (view: ConsentView): Page => ({
  title: 'Sign in to the command line',
  main: html`<h1>Sign in to the command line?</h1>
    <p>A terminal is requesting an access token on your behalf. Your terminal must show this code:</p>
    <p class="code" id="user-code">${view.userCode}</p>
    <p class="note" id="warning">
      <strong>Deny if you did not start this login yourself just now,</strong> or if the code differs, even if
      someone you know sent you here. Anyone with the token can do everything that you can do.
    </p>
    <dl>${renderDetails(view)}</dl>
    <form method="post" autocomplete="off">
      <input type="hidden" name="code" value="${view.userCode}" />
      <input type="hidden" name="form_token" value="${view.formToken}" />
      <label class="check">
        <input type="checkbox" name="compared" value="yes" required aria-describedby="user-code warning" />
        My own terminal shows this code
      </label>
      <button type="submit" name="decision" value="approve">Approve</button>
      <button type="submit" name="decision" value="deny" class="plain" formnovalidate>Deny</button>
    </form>`,
})

const renderDetails = (view: ConsentView): Html[] => [
  renderRow('Signed in as', view.person),
  renderRow('Token name', isolateText(view.tokenName)),
  renderRow(
    'Requested from',
    view.isOtherNetwork ? `${view.ipAddress}, which is not in your network` : view.ipAddress,
  ),
  renderRow('Program (self-reported)', isolateText(formatProgram(view.userAgent))),
  renderRow('Started', html`<time datetime="${view.createdAt}">${formatAge(view.ageSeconds)}</time>`),
  renderRow('Key fingerprint', view.fingerprint),
  renderRow(
    'Token expires',
    html`after ${view.tokenDays === 1 ? 'a day' : `${view.tokenDays} days`}, or when you revoke it:
    ${tokenCommands}`,
  ),
]

// The commands do not contain the token name: the terminal chose it, and people paste commands from a page into a
// shell.
const tokenCommands = html`<code>svc tokens list</code> lists your tokens,
  <code>svc tokens revoke &lt;name&gt;</code> revokes one`

function formatProgram(userAgent: string): string {
  if (userAgent === '') return 'unknown'
  return userAgent.length <= maxProgramLength
    ? userAgent
    : `${userAgent.slice(0, maxProgramLength).toWellFormed()}…`
}

/** Asks for the code if the URL contains no code or an unknown code. */
export const renderCodePage = (problem: string | null): Page => ({
  title: problem === null ? 'Sign in to the command line' : 'Unknown code',
  main: html`<h1>${problem === null ? 'Sign in to the command line' : 'Unknown code'}</h1>
    <p>
      ${problem === null ? 'Your terminal shows a code.' : `Reason: ${problem}.`} Type the code here; you
      decide on the next page.
    </p>
    <form method="get" autocomplete="off">
      <label for="code">Code</label>
      <input
        type="text"
        id="code"
        name="code"
        required
        maxlength="20"
        placeholder="XXXX-XXXX"
        autocapitalize="characters"
        spellcheck="false"
      />
      <button type="submit">Continue</button>
    </form>`,
})

export const renderDecidedPage = (decision: 'approve' | 'deny', tokenName: string): Page =>
  decision === 'approve'
    ? {
        title: 'Approved',
        main: html`<h1>Approved</h1>
          <p>
            Your terminal receives the token <strong><bdi>${tokenName}</bdi></strong> within seconds. You can
            close this page.
          </p>
          <p class="soft">
            If you did not start this login, revoke the token immediately: ${tokenCommands}.
          </p>`,
      }
    : {
        title: 'Denied',
        main: html`<h1>Denied</h1>
          <p>The terminal does not receive a token. You can close this page.</p>
          <p class="soft">
            If you did not start this login, tell your operator that someone sent you a sign-in link.
          </p>`,
      }

function formatAge(seconds: number): string {
  if (seconds < 60) return 'less than a minute ago'
  const minutes = Math.floor(seconds / 60)
  return minutes === 1 ? 'a minute ago' : `${minutes} minutes ago`
}
