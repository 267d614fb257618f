// The page on which somebody decides about a terminal, as a browser meets it: a real nginx with the configuration of
// docs/, and the service as a process. Who is signed in is a cookie: `session` is the name of a person.
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
import { blocksOf, readPage } from './played-page.ts'
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

/** The first block of nginx on a page. */
function nginxOf(name: string): string {
  const block = blocksOf(readPage(name)).find(({ language }) => language === 'nginx')
  if (block === undefined) throw new Error(`docs/${name} has no block of nginx`)
  return block.text
}

/** nginx as the documentation has it: only the address of the service, the secret and the sign-in are the test's. */
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

/** What a terminal knows: its own key and the address. A secret of the proxy it does not have. */
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

/** Who a token belongs to, as /query says through the proxy. */
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

/** A tab of somebody, or of nobody who is signed in. */
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

/** What a tab complains about from now on: dialogs, errors of scripts, and what the console calls an error. */
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

/** What axe finds wrong with what a tab shows. */
export async function violationsOf(tab: Page): Promise<unknown[]> {
  if (!(await tab.evaluate(() => 'axe' in globalThis))) await tab.evaluate(axe.source)
  // Without these options, axe describes every node that passed, which takes longer than all of its checks.
  const { violations } = await tab.evaluate(() =>
    (globalThis as unknown as { axe: typeof axe }).axe.run({ resultTypes: ['violations'], selectors: false }),
  )
  return violations.map(({ id, nodes }) => ({ id, html: nodes.map(({ html }) => html) }))
}

/** A site of somebody else on loopback: `localhost` is another site than 127.0.0.1, and 127.0.0.1 another origin of the same. */
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
    /** What it serves from now on. */
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
