// What a browser shows of a login. The texts are for somebody who may have been sent a link by an attacker: they say what to
// compare, and when to refuse.
import { type Html, html } from '../../platform/http/pages/html.ts'
import type { Page } from '../../platform/http/pages/send-page.ts'

export type ConsentView = {
  userCode: string
  tokenName: string
  ipAddress: string
  /** The terminal is in another network than the browser. */
  isElsewhere: boolean
  userAgent: string
  createdAt: string
  ageSeconds: number
  /** Of the terminal's key. */
  fingerprint: string
  tokenDays: number
  formToken: string
  /** Who is signed in. */
  person: string
}

// A program calls itself what it likes, also a whole sentence.
const maxShownProgram = 80

const row = (name: string, value: string | Html): Html =>
  html`<dt>${name}</dt>
    <dd>${value}</dd> `
/** A text of the terminal: its direction does not reach beyond it. */
const foreign = (text: string): Html => html`<bdi>${text}</bdi>`

/** Shows who asks for what, and lets the person decide. */
export const consentPage = (view: ConsentView): Page => ({
  title: 'Sign in to the command line',
  main: html`<h1>Sign in to the command line?</h1>
    <p>A terminal asks for an access token in your name. Your terminal must show this code:</p>
    <p class="code" id="user-code">${view.userCode}</p>
    <p class="note" id="warning">
      <strong>Deny if you did not start this login yourself just now,</strong> or if the code differs, even if
      somebody you know sent you here. Whoever gets the token can do everything that you can do.
    </p>
    <dl>${details(view)}</dl>
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

const details = (view: ConsentView): Html[] => [
  row('Signed in as', view.person),
  row('Token name', foreign(view.tokenName)),
  row('Asked from', view.isElsewhere ? `${view.ipAddress}, which is not where you are` : view.ipAddress),
  row('Calls itself', foreign(programOf(view.userAgent))),
  row('Started', html`<time datetime="${view.createdAt}">${ago(view.ageSeconds)}</time>`),
  row('Key fingerprint', view.fingerprint),
  row(
    'Token ends',
    html`after ${view.tokenDays === 1 ? 'a day' : `${view.tokenDays} days`}, or when you revoke it:
    ${tokenCommands}`,
  ),
]

// Not with the name of the token, which the terminal chose: people paste what a page shows into a shell.
const tokenCommands = html`<code>svc tokens list</code> lists your tokens,
  <code>svc tokens revoke &lt;name&gt;</code> revokes one`

function programOf(userAgent: string): string {
  if (userAgent === '') return 'nothing'
  return userAgent.length <= maxShownProgram
    ? userAgent
    : `${userAgent.slice(0, maxShownProgram).toWellFormed()}…`
}

/** Asks for the code when the address has none, or a wrong one. */
export const codePage = (problem: string | null): Page => ({
  title: problem === null ? 'Sign in to the command line' : 'Unknown code',
  main: html`<h1>${problem === null ? 'Sign in to the command line' : 'Unknown code'}</h1>
    <p>
      ${problem === null ? 'Your terminal shows a code.' : `Reason: ${problem}.`} Type it here; you decide on
      the next page.
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

/** Says what was decided. */
export const decidedPage = (decision: 'approve' | 'deny', tokenName: string): Page =>
  decision === 'approve'
    ? {
        title: 'Approved',
        main: html`<h1>Approved</h1>
          <p>
            Your terminal gets the token <strong><bdi>${tokenName}</bdi></strong> within seconds. You can
            close this page.
          </p>
          <p class="soft">
            If it was not you who started this login, revoke the token at once: ${tokenCommands}.
          </p>`,
      }
    : {
        title: 'Denied',
        main: html`<h1>Denied</h1>
          <p>The terminal gets no token. You can close this page.</p>
          <p class="soft">
            If you did not start this login, tell your operator that somebody sent you here.
          </p>`,
      }

function ago(seconds: number): string {
  if (seconds < 60) return 'less than a minute ago'
  const minutes = Math.floor(seconds / 60)
  return minutes === 1 ? 'a minute ago' : `${minutes} minutes ago`
}
