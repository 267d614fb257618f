// Pages and sign-in of the demo proxy. A production proxy uses an identity provider instead.
import type { IncomingMessage } from 'node:http'
import { type Person, people } from './demo-data.ts'

/** Returns the person that the cookie identifies. The cookie needs no secret: anyone may sign in as any person. */
export const findPerson = ({ headers: { cookie = '' } }: IncomingMessage): Person | null =>
  people.find(({ key }) => cookie.split(/; */).includes(`demo_person=${key}`)) ?? null

/** Returns the cookie that signs a person in, or the cookie that signs out if `person` is null. */
export const createSessionCookie = (person: Person | null): string =>
  `demo_person=${person?.key ?? ''}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${person === null ? 0 : 86_400}`

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

/** Returns a page of the demo proxy; `content` is HTML. */
const renderPage = (title: string, content: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width" />
<title>${title}</title>
<link rel="stylesheet" href="/examples/shell/shell.css" />
<main>
<h1>${title}</h1>
${content}
</main>
`

/** Returns the page on which a visitor chooses a person. `next` is the path to open after the sign-in. */
export const renderSignInPage = (next: string): string =>
  renderPage(
    'Sign in to the demo',
    `<form method="post" action="/sign-in">
<input type="hidden" name="next" value="${escapeHtml(next)}" />
${people.map(renderButton).join('\n')}
</form>
<p>This demo runs on your own machine and requires no password.</p>`,
  )
const renderButton = ({ key, name, tenant }: Person): string =>
  `<p><button name="person" value="${key}">Sign in as ${name}</button> of the tenant ${tenant}</p>`

/** Returns the page at the root of the Manager's host. */
export const renderManagerPage = ({ name }: Person, applicationUrl: string): string =>
  renderPage(
    'Demo Manager',
    `<p>You are signed in as ${name}. This host serves the routes for people and machines, such as <code>POST /query</code>.</p>
<p><a href="${applicationUrl}">Open the application</a></p>
<form method="post" action="/sign-out"><button>Sign out</button></form>`,
  )
