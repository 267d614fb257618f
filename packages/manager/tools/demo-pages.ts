// The pages of the demo's proxy, and who is signed in there. A real proxy asks an identity provider.
import type { IncomingMessage } from 'node:http'
import { type Person, people } from './demo-data.ts'

/** The person whom a request names. The cookie needs no secret: everybody may choose anybody. */
export const personOf = ({ headers: { cookie = '' } }: IncomingMessage): Person | null =>
  people.find(({ key }) => cookie.split(/; */).includes(`demo_person=${key}`)) ?? null

/** Signs a person in, or out for null. */
export const cookieOf = (person: Person | null): string =>
  `demo_person=${person?.key ?? ''}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${person === null ? 0 : 86_400}`

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

/** A page of the demo's proxy. `content` is HTML. */
const pageOf = (title: string, content: string): string => `<!doctype html>
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

/** The page on which somebody chooses who to be; `next` is where they go then. */
export const signInPage = (next: string): string =>
  pageOf(
    'Sign in to the demo',
    `<form method="post" action="/sign-in">
<input type="hidden" name="next" value="${escape(next)}" />
${people.map(buttonOf).join('\n')}
</form>
<p>This is a demo on your own machine: it asks for no password.</p>`,
  )
const buttonOf = ({ key, name, tenant }: Person): string =>
  `<p><button name="person" value="${key}">Sign in as ${name}</button> of the tenant ${tenant}</p>`

/** What the host of the Manager shows at its root. */
export const managerPage = ({ name }: Person, applicationUrl: string): string =>
  pageOf(
    'The Manager of the demo',
    `<p>You are signed in as ${name}. This host has the routes of people and machines, such as <code>POST /query</code>.</p>
<p><a href="${applicationUrl}">To the application</a></p>
<form method="post" action="/sign-out"><button>Sign out</button></form>`,
  )
