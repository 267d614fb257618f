// Opens the page on which a person approves a terminal login in a browser. A real nginx uses the
// configuration from docs/, and the service runs as a process. The cookie `session` contains the name of the
// signed-in person.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import axe from 'axe-core'
import { Pool } from 'pg'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { startNginx } from '@manager/harness/engines/nginx.ts'
import { freePort } from '@manager/harness/engines/postgres.ts'
import { proxySecret } from '@manager/harness/callers.ts'
import { type Answer, type Started, openTerminal } from '@manager/harness/cli-login.ts'
import { createScratchDatabase } from './databases.ts'
import { blocksOf, readPage } from './doc-page-runner.ts'
import { startProcess } from '@manager/harness/process.ts'

type Visitor = { id: string; email: string; name: string; session: string }
export const alice: Visitor = {
  id: '0199a000-0000-7000-8000-00000000d001',
  email: 'alice@example.com',
  name: 'Alice Moser',
  session: 'alice',
}
export const bob: Visitor = {
  id: '0199a000-0000-7000-8000-00000000d002',
  email: 'bob@example.com',
  name: 'Bob Huber',
  session: 'bob',
}

/** Returns the first nginx configuration block of a documentation page. */
function nginxOf(name: string): string {
  const block = blocksOf(readPage(name)).find(({ language }) => language === 'nginx')
  if (block === undefined) throw new Error(`docs/${name} has no nginx block`)
  return block.text
}

/**
 * Starts nginx with the documented configuration. The test replaces only the service address, the secret and the
 * sign-in.
 */
function startProxy(managerPort: number) {
  const server = nginxOf('guides/proxies/sign-in-people.md')
    .replaceAll('127.0.0.1:8080', `127.0.0.1:${managerPort}`)
    .replaceAll('the shared secret', proxySecret)
  const bySession = (variable: string, value: (visitor: Visitor) => string): string =>
    `map $cookie_session $${variable} { default ''; ${[alice, bob].map((one) => `${one.session} "${value(one)}";`).join(' ')} }`
  const signIn = [
    bySession('user_subject', ({ id }) => id),
    bySession('user_email', ({ email }) => email),
    bySession('user_name', ({ name }) => name),
  ]
  return startNginx({ http: signIn.join('\n'), server })
}

/** Creates a terminal client, which knows its own key and the service address, but not the proxy secret. */
async function terminalAt(url: string) {
  const terminal = await openTerminal({ url })
  const noSecret = { 'x-proxy-auth': 'not known to terminals' }
  return {
    key: terminal.key,
    open: terminal.open,
    login: (more: object = {}, headers: Record<string, string> = {}): Promise<Started> =>
      terminal.login(more, { ...noSecret, ...headers }),
    poll: (sessionId: string): Promise<Answer> => terminal.poll(sessionId, noSecret),
  }
}

/** Returns the owner of a token, as /query reports it through the proxy. */
export async function ownerOf(url: string, token: string): Promise<unknown> {
  const response = await fetch(`${url}/query`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ me { id } }' }),
  })
  return response.json()
}

export type LoginScene = Awaited<ReturnType<typeof startLoginScene>>

export async function startLoginScene(env: Record<string, string> = {}) {
  const database = await createScratchDatabase()
  const sql = new Pool({ connectionString: database.url, max: 2 })
  const port = await freePort()
  const proxy = await startProxy(port)
  const manager = await startProcess(database.url, {
    SVC_PORT: String(port),
    SVC_PUBLIC_URL: proxy.url,
    SVC_SHUTDOWN_DRAIN_DELAY_MS: '0',
    SVC_CLI_LOGIN_POLLS_PER_CLIENT: '1000',
    SVC_THROTTLES_CODE_FAILURES: '1000',
    ...env,
  })
  const one = async (text: string, code: string) => (await sql.query(text, [code])).rows[0]
  return {
    sql,
    proxy,
    terminal: await terminalAt(proxy.url),
    metrics: async (): Promise<string> => (await fetch(`${manager.healthUrl}/metrics`)).text(),
    statusOf: async (code: string): Promise<string> =>
      (await one('select status from cli_logins where user_code = $1', code)).status,
    expire: (code: string): Promise<unknown> =>
      one('update cli_logins set expires_at = now() where user_code = $1 returning id', code),
    tokenCount: async (name: string): Promise<number> =>
      (await one('select count(*)::int as n from personal_access_tokens where name = $1', name)).n,
    close: async (): Promise<void> => {
      await proxy.close()
      manager.child.kill('SIGKILL')
      await manager.exit
      await sql.end()
      await database.drop()
    },
  }
}

/** Opens a tab for a signed-in visitor, or for an anonymous one if `visitor` is null. */
export async function openTab(
  browser: Browser,
  { proxy }: Pick<LoginScene, 'proxy'>,
  visitor: Visitor | null,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const context = await browser.newContext(options)
  if (visitor !== null)
    await context.addCookies([{ name: 'session', value: visitor.session, url: proxy.url }])
  context.setDefaultTimeout(60_000)
  return context.newPage()
}

/** Collects dialogs, script errors and console messages of a tab from now on. */
export function complaintsOf(tab: Page): string[] {
  const complaints: string[] = []
  tab.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  tab.on('pageerror', (error) => complaints.push(`error: ${error.message}`))
  tab.on('console', (line) => complaints.push(`${line.type()}: ${line.text()}`))
  return complaints
}

/** react-aria keeps an announcement for seconds, but the button that labels it can be removed earlier. */
const announcements = '[data-live-announcer]'

/** Returns the accessibility violations that axe finds in a tab, or in the elements of a selector. */
export async function violationsOf(tab: Page, within = ':root'): Promise<unknown[]> {
  if (!(await tab.evaluate(() => 'axe' in globalThis))) await tab.evaluate(axe.source)
  // Without these options, axe describes every node that passed, which takes longer than all checks.
  const { violations } = await tab.evaluate(
    (context) =>
      (globalThis as unknown as { axe: typeof axe }).axe.run(context, {
        resultTypes: ['violations'],
        selectors: false,
      }),
    { include: within, exclude: announcements },
  )
  return violations.map(({ id, nodes }) => ({ id, html: nodes.map(({ html }) => html) }))
}

/**
 * Starts a cross-site server on loopback. `localhost` is a different site from 127.0.0.1, and a different port of
 * 127.0.0.1 is a different origin on the same site.
 */
export async function startForeignSite() {
  let page = ''
  const server = createServer((_request, response) => {
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(`<!doctype html><title>foreign</title>${page}`)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    urls: [`http://127.0.0.1:${port}`, `http://localhost:${port}`],
    /** Sets the HTML that the site serves. */
    show: (html: string): void => {
      page = html
    },
    close: async (): Promise<void> => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
