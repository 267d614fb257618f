// Tests the built console in Chromium behind a real Apache that signs people in, with a configuration that
// `manager proxy-config` renders. The policy of the page must not block anything that the console needs.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Person, proxySecret } from '@manager/harness/callers.ts'
import { ensureConsoleBuild } from '@manager/harness/console-build.ts'
import { type ApacheProxy, startApache } from '@manager/harness/engines/apache.ts'
import { type OidcProvider, startOidcProvider } from '@manager/harness/engines/oidc-provider.ts'
import { complaintsOf } from './kit/cli-login-page.ts'
import { launchBrowser } from './kit/pilet-page.ts'
import { useProject } from './kit/project.ts'
import { renderProxy } from './kit/rendered-proxy.ts'

const { service, member } = useProject({
  slug: 'shop',
  world: { consoleFolder: await ensureConsoleBuild() },
})
let browser: Browser
let provider: OidcProvider
let proxy: ApacheProxy
let alice: Person

beforeAll(async () => {
  browser = await launchBrowser()
  alice = await member('alice', 'maintainer')
  const rendered = await renderProxy(service, {
    form: 'apache',
    management: '127.0.0.1',
    backendUrl: 'http://127.0.0.1:1',
  })
  provider = await startOidcProvider([{ id: alice.id, email: 'alice@example.com', name: 'Alice' }])
  proxy = await startApache({ managerUrl: service.url, secret: proxySecret, provider, rendered })
}, 180_000)
afterAll(async () => {
  await browser?.close()
  await proxy?.close()
  await provider?.close()
})

const addressOf = (path: string): string => `http://127.0.0.1:${proxy.port}${path}`
const isRendered = async (tab: Page): Promise<void> => {
  await tab.locator('#root main').waitFor()
  await tab.waitForLoadState('networkidle')
}
/** Matches browser messages about content that the page's policy blocks. */
const policyPattern = /content security policy|trusted ?(?:html|script|type)/i

/** Opens an address of the console and signs in at the provider. */
async function openConsole(path: string): Promise<Page> {
  const context = await browser.newContext()
  context.setDefaultTimeout(60_000)
  const tab = await context.newPage()
  await tab.goto(addressOf(path))
  expect(tab.url()).toContain(provider.issuer)
  await tab.fill('input[name=login]', alice.id)
  await tab.click('button')
  await tab.waitForURL(`**${path}`)
  await isRendered(tab)
  return tab
}

test('a view opens after the sign-in at its own address, and its policy blocks nothing', async () => {
  const tab = await openConsole('/console/p/shop/tenants')
  const complaints = complaintsOf(tab)
  const hosts = new Set<string>()
  tab.on('request', (request) => hosts.add(new URL(request.url()).host))
  for (const view of ['', 'me', 'p/shop/overview', 'p/shop/tenants', 'p/shop/members', 'p/shop/audit']) {
    await tab.goto(addressOf(`/console/${view}`))
    await isRendered(tab)
  }
  const blocked = (): string[] => complaints.filter((line) => policyPattern.test(line))
  expect(blocked()).toEqual([])
  expect([...hosts]).toEqual([`127.0.0.1:${proxy.port}`])
  // A script that is created from a string proves that the policy is in force and that the browser reports violations.
  const title = await tab.evaluate(() => {
    const script = document.createElement('script')
    script.append('document.title = "it ran"')
    document.body.append(script)
    return document.title
  })
  expect(title).not.toBe('it ran')
  await expect.poll(blocked).not.toEqual([])
  await tab.context().close()
})

test('when the session has ended, a request gets a 401 and a navigation goes to the sign-in', async () => {
  const tab = await openConsole('/console/')
  const query = (): Promise<number> =>
    tab.evaluate(async () => {
      const headers = { 'content-type': 'application/json' }
      const body = '{"query": "{ me { id } }"}'
      return (await fetch('/query', { method: 'POST', redirect: 'manual', headers, body })).status
    })
  expect(await query()).toBe(200)
  await tab.context().clearCookies()
  expect(await query()).toBe(401)
  await tab.reload()
  expect(tab.url()).toContain(provider.issuer)
  await tab.context().close()
})
