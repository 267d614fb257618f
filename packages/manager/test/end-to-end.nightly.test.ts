// Tests the whole system with real components: PostgreSQL, Redis, the Manager as a process, and Apache with
// an identity provider. The clients are svc in a terminal, two people in browsers, and the example backend.
// No client knows the proxy secret.
import { randomUUID } from 'node:crypto'
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Connection, connect, graphql } from '@manager/client'
import * as documents from '@manager/client/documents'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startPartner } from '../tools/demo-partner.ts'
import { type ApacheProxy, createApache } from '@manager/harness/engines/apache.ts'
import { startOidcProvider } from '@manager/harness/engines/oidc-provider.ts'
import { freePort } from '@manager/harness/engines/postgres.ts'
import { type Terminal, startTerminal } from '@manager/harness/engines/tmux.ts'
import { proxySecret } from '@manager/harness/callers.ts'
import { testEnv } from '@manager/harness/test-env.ts'
import { createScratchDatabase } from './kit/databases.ts'
import { startExampleBackend } from './kit/example-backend.ts'
import { rawCall } from './kit/http.ts'
import { launchBrowser } from './kit/pilet-page.ts'
import { runManagerProcess, startProcess } from '@manager/harness/process.ts'
import { startShellHost } from './kit/shell-host.ts'

const root = new URL('../../../', import.meta.url).pathname
const anna = { id: randomUUID(), email: 'anna@example.com', name: 'Anna' }
const ben = { id: randomUUID(), email: 'ben@example.com', name: 'Ben' }
const host = 'acme.web.shop.localhost'
/** Cleanup functions, run in reverse order. */
const ends: (() => unknown)[] = []
let folder: string
let browser: Browser
let apache: ApacheProxy
let terminal: Terminal
let partner: Awaited<ReturnType<typeof startPartner>>
let frontend: Awaited<ReturnType<typeof startShellHost>>
let renderProxy: () => Promise<string>
let annas: Connection

const shop = (partnerUrl: string): string => `
projects:
  - slug: shop
    name: Web shop
    settings:
      frontend: { themes: [light], defaultTheme: light, locales: [en], defaultLocale: en }
    environments:
      dev:
        machineUsers:
          - name: backend
            tokenFile: backend.token
    languagePacks:
      - name: en
        content: ${JSON.stringify(JSON.parse(readFileSync(`${root}examples/shell/texts/en.json`, 'utf8')))}
    applications:
      - slug: web
        name: Shop
        settings: { backend: { modules: ['@shop/stock'] } }
        endpoints:
          - name: stock
            consumeURL: /stock
            url: ${partnerUrl}/stock
            authType: Bearer
            authTokenFile: partner.token
            callers: [dev/backend]
        triggers:
          - name: Count the stock
            cronExpression: '* * * * *'
            runKey: count-stock
    tenants:
      - slug: acme
        name: Acme
        deploymentMode: dedicated
        applications:
          - slug: web
`

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'end-to-end-'))
  ends.push(() => rmSync(folder, { recursive: true, force: true }))
  const database = await createScratchDatabase()
  ends.push(() => database.drop())
  const provider = await startOidcProvider([anna, ben])
  ends.push(() => provider.close())
  const port = await freePort()
  apache = await createApache({ managerUrl: `http://127.0.0.1:${port}`, secret: proxySecret, provider })
  ends.push(() => apache.close())
  const env = {
    SVC_PORT: String(port),
    SVC_PUBLIC_URL: `http://127.0.0.1:${apache.port}`,
    SVC_CALLBACKS_ALLOWED_CIDRS: '127.0.0.0/8',
    SVC_SHUTDOWN_DRAIN_DELAY_MS: '0',
  }
  const manager = await startProcess(database.url, env)
  ends.push(async () => {
    manager.child.kill()
    await manager.exit
  })
  const operate = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await runManagerProcess(args, testEnv(database.url))
    if (code !== 0) throw new Error(`${args.join(' ')}: ${stderr}`)
    return stdout
  }
  await operate('admin', 'grant', anna.id)
  partner = await startPartner()
  ends.push(() => partner.close())
  frontend = await startShellHost(configOfPage)
  ends.push(() => frontend.close())
  renderProxy = async () => {
    const rendered = await operate(
      'proxy-config',
      '--format=apache',
      '--management-host=127.0.0.1',
      '--host-pattern={application}.{project}.localhost',
      '--backend-pattern=http://{application}.{project}.backends',
    )
    // The test uses an address instead of a host name, because it has no DNS.
    return rendered.replaceAll('http://web.shop.backends', frontend.url)
  }
  await apache.start(await renderProxy())
  browser = await launchBrowser()
  ends.push(() => browser.close())
})
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})

const urlOf = (name: string): string => `http://${name}:${apache.port}`
const asAnna = (): Connection => annas

/** Returns the page configuration for a caller. The keys are fetched through the proxy. */
async function configOfPage({ userId, tenantId }: { userId: string; tenantId: string }) {
  const application = await shopApplication()
  const keys = await rawCall(urlOf('127.0.0.1'), {
    method: 'GET',
    path: `/pilet-keys/${application.id}`,
    host: `${host}:${apache.port}`,
    headers: [],
  })
  const { name } = [anna, ben].find(({ id }) => id === userId) ?? { name: 'nobody' }
  return {
    pilet_signing_keys: JSON.parse(keys.body) as unknown,
    application,
    tenant: { id: tenantId, name: 'Acme' },
    user: { name },
  }
}

async function shopApplication(): Promise<{ id: string; name: string }> {
  const { applications } = await graphql(asAnna(), documents.listApplicationsDocument, {
    projectSlug: 'shop',
  })
  return applications[0] ?? { id: '', name: '' }
}

/** Opens a page in a new browser context and signs in as this person. */
async function openAs(person: typeof anna, url: string): Promise<Page> {
  const context = await browser.newContext({ locale: 'en-US' })
  context.setDefaultTimeout(60_000)
  const tab = await context.newPage()
  await tab.goto(url)
  await tab.fill('input[name=login]', person.email)
  await tab.getByRole('button', { name: 'Sign in' }).click()
  return tab
}

async function signInByTerminal(): Promise<void> {
  const svc = `${process.execPath} ${root}packages/cli/src/svc.ts`
  writeFileSync(`${folder}/svc`, `#!/bin/sh\nexec ${svc} "$@"\n`)
  chmodSync(`${folder}/svc`, 0o755)
  terminal = startTerminal(folder, { HOME: folder, PATH: `${folder}:/usr/bin:/bin` })
  ends.push(() => terminal.close())
  terminal.type(`svc login --url ${urlOf('127.0.0.1')}`)
  const address = await terminal.read(/address\s+(http\S+)/)
  const code = await terminal.read(/code\s+(\S+)/)
  const tab = await openAs(anna, address)
  await tab.getByText(code).first().waitFor()
  await tab.check('input[name=compared]')
  await tab.getByRole('button', { name: 'Approve' }).click()
  await tab.getByText('Approved').first().waitFor()
  await terminal.read(/signed in/i)
}

/** Types a command, waits until it exits, and returns the screen. */
async function svc(command: string): Promise<string> {
  terminal.type(`svc ${command}; echo "ended with $?"`)
  const code = await terminal.read(/^ended with (\d+)$/m)
  expect([code, terminal.screen()]).toEqual(['0', expect.any(String)])
  return terminal.screen()
}

test('somebody signs in from a terminal, sets up a shop, and another one sees in a browser what its backend has to say', async () => {
  await signInByTerminal()
  expect(await svc('whoami')).toContain('anna@example.com')

  writeFileSync(`${folder}/partner.token`, partner.token, { mode: 0o600 })
  writeFileSync(`${folder}/shop.yaml`, shop(partner.url))
  await svc('apply -f shop.yaml --yes')
  expect(await svc('apply -f shop.yaml --yes')).toMatch(/nothing to do/i)
  const { profiles } = JSON.parse(readFileSync(`${folder}/.config/svc/credentials.json`, 'utf8')) as {
    profiles: Record<string, { token: string }>
  }
  const token = Object.values(profiles)[0]?.token ?? ''
  annas = connect({ url: urlOf('127.0.0.1'), token })

  // The proxy overwrites forged identity headers: Anna is still identified as Anna, and a caller without a credential
  // is rejected.
  const forged = { 'x-token-subject': ben.id, 'x-user-id': ben.id, 'x-proxy-auth': proxySecret }
  const me = async (connection: Connection) => (await graphql(connection, documents.meDocument, {})).me.id
  expect(await me(connect({ url: urlOf('127.0.0.1'), token, headers: forged }))).toBe(anna.id)
  await expect(me(connect({ url: urlOf('127.0.0.1'), headers: forged }))).rejects.toMatchObject({
    status: 401,
  })

  // Ben's first visit creates the user, who then becomes a member.
  const first = await openAs(ben, `${urlOf('127.0.0.1')}/cli/authorize?code=BCDF-GHJK`)
  await first.waitForURL(/\/cli\/authorize/)
  const { tenants } = await graphql(asAnna(), documents.listTenantsDocument, { projectSlug: 'shop' })
  await graphql(asAnna(), documents.addUserToTenantDocument, {
    tenantID: tenants[0]?.id ?? '',
    userID: ben.id,
    roleName: 'member',
  })

  // Activate the host name of the tenant in the proxy.
  writeFileSync(`${folder}/rendered.conf`, await renderProxy())
  expect(await apache.apply(`${folder}/rendered.conf`)).toMatchObject({ code: 0 })

  const tab = await openAs(ben, urlOf(host))
  await tab.getByRole('heading', { name: 'Welcome, Ben' }).waitFor()
  await tab.getByText('There are no notifications.').waitFor({ state: 'attached' })

  const { id: applicationId } = await shopApplication()
  const backend = await startExampleBackend('backend.ts', {
    managerUrl: urlOf('127.0.0.1'),
    applicationId,
    token: readFileSync(`${folder}/backend.token`, 'utf8').trim(),
  })
  ends.push(() => backend.stop())
  // At the next full minute the trigger calls the backend, which calls the partner and notifies Ben.
  await backend.line(/(count-stock) for Acme/)
  await tab.locator('#bell.unread').waitFor()
  await tab.locator('#bell').click()
  await tab.getByRole('button', { name: /^Tulips left: \d+$/ }).waitFor()

  copyFileSync(`${root}examples/shell/stock-pilet.mjs`, `${folder}/stock.js`)
  await svc('pilet publish stock.js -p shop --as @shop/stock@1.0.0')
  await tab.reload()
  await tab.getByRole('heading', { name: 'Stock', exact: true }).waitFor()
  expect(await svc("trigger runs 'Count the stock' -p shop -a web")).toContain('delivered')
})
