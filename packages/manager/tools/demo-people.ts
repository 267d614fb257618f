// Who is signed in at the demo's proxy: two people who need no password. A real proxy asks an identity provider here.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

export type Person = { key: string; subject: string; name: string; email: string; tenant: string }

export const anna: Person = {
  key: 'anna',
  subject: 'a11a0000-0000-4000-8000-000000000001',
  name: 'Anna',
  email: 'anna@acme.example',
  tenant: 'acme',
}
export const ben: Person = {
  key: 'ben',
  subject: 'be000000-0000-4000-8000-000000000002',
  name: 'Ben',
  email: 'ben@birch.example',
  tenant: 'birch',
}
export const people: readonly Person[] = [anna, ben]

/** What a proxy tells the Manager of somebody who is signed in. */
export const identityOf = ({ subject, email, name }: Person): Record<string, string> => ({
  'x-token-subject': subject,
  'x-token-user-email': email,
  'x-token-user-name': name,
})

const cookieName = 'demo_session'
const maxSessions = 1_000

const idOf = ({ headers }: IncomingMessage): string => {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim().split('='))
  return pairs.find(([name]) => name === cookieName)?.[1] ?? ''
}
const cookie = (value: string, maxAge: number): string =>
  `${cookieName}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAge}`

export type Sessions = ReturnType<typeof createSessions>

/** Sessions of this run, at most a thousand; the oldest ends first. */
export function createSessions() {
  const sessions = new Map<string, Person>()
  return {
    personOf: (request: IncomingMessage): Person | null => sessions.get(idOf(request)) ?? null,
    /** Begins a session; returns the cookie. */
    begin: (person: Person): string => {
      const id = randomUUID()
      sessions.set(id, person)
      const [oldest] = sessions.keys()
      if (sessions.size > maxSessions && oldest !== undefined) sessions.delete(oldest)
      return cookie(id, 86_400)
    },
    /** Ends the session of a request; returns the cookie. */
    end: (request: IncomingMessage): string => {
      sessions.delete(idOf(request))
      return cookie('', 0)
    },
  }
}

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
</html>
`

/** The page on which somebody chooses who to be; `next` is where they go then. */
export function signInPage(next: string): string {
  const buttons = people.map(
    ({ key, name, tenant }) =>
      `<p><button name="person" value="${key}">Sign in as ${name}</button> of the tenant ${tenant}</p>`,
  )
  return pageOf(
    'Sign in to the demo',
    `<form method="post" action="/sign-in">
<input type="hidden" name="next" value="${escape(next)}" />
${buttons.join('\n')}
</form>
<p>This is a demo on your own machine: it asks for no password.</p>`,
  )
}

/** What the host of the Manager shows at its root. */
export const managerPage = ({ name }: Person, applicationUrl: string): string =>
  pageOf(
    'The Manager of the demo',
    `<p>You are signed in as ${escape(name)}. This host has the routes of people and machines, such as <code>POST /query</code>.</p>
<p><a href="${escape(applicationUrl)}">To the application</a></p>
<form method="post" action="/sign-out"><button>Sign out</button></form>`,
  )
