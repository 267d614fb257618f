import { html } from '../../platform/http/pages/html.ts'
import type { Page } from '../../platform/http/pages/send-page.ts'

/** The page that is shown if the Manager was started without a built console. */
export const notBuiltPage: Page = {
  title: 'The console is not built',
  main: html`<h1>The console is not built</h1>
    <p>This installation has no built console. All other routes work.</p>
    <p>Run <code>npm run build -w packages/console</code>, then restart the Manager.</p>`,
}
