// Tests svc login against the demo in Chromium, from opening the address to using the token.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DemoScene, openTab, startDemoScene } from '../../manager/test/kit/demo.ts'
import { launchBrowser } from '../../manager/test/kit/pilet-page.ts'
import { anna } from '../../manager/tools/demo-people.ts'
import { svcAt, useFolder } from './kit/svc.ts'

const home = useFolder()
let browser: Awaited<ReturnType<typeof launchBrowser>>
let scene: DemoScene
beforeAll(async () => {
  browser = await launchBrowser()
  scene = await startDemoScene()
})
afterAll(async () => {
  await browser?.close()
  await scene?.close()
})

/** Opens the address as Anna, compares the code and approves. Returns the response and the page text. */
async function approve(address: string, code: string): Promise<unknown[]> {
  const { tab, complaints } = await openTab(browser, address)
  expect(await tab.locator('#user-code').textContent()).toBe(code)
  await tab.getByRole('checkbox').check()
  const [response] = await Promise.all([
    tab.waitForResponse((one) => one.request().method() === 'POST'),
    tab.getByRole('button', { name: 'Approve' }).click(),
  ])
  await tab.waitForLoadState()
  return [response.status(), await tab.locator('body').innerText(), complaints]
}

// This test waits for the delay between two polls.
test('signs in through the proxy of the demo, and the token works there', async () => {
  const controller = new AbortController()
  const decisions: Promise<unknown[]>[] = []
  const onErr = (text: string): void => {
    const [, address = '', code = ''] = /address {2}(\S+)\n {2}code {5}(\S+)\n/.exec(text) ?? []
    if (code === '' || decisions.length > 0) return
    const decision = approve(address, code)
    decisions.push(decision)
    // If the approval fails, abort the login. Otherwise, it would wait until it expires.
    decision.then(
      ([status]) => status === 200 || controller.abort(new Error('not approved')),
      (error: unknown) => controller.abort(error),
    )
  }
  const args = ['login', '--url', scene.addresses.manager]
  const { code, out } = await svcAt(home.path, args, { onErr, signal: controller.signal })
  expect(await Promise.all(decisions)).toEqual([[200, expect.stringMatching(/^Approved\n/), []]])
  expect([code, out]).toEqual([
    0,
    expect.stringContaining(`Signed in to ${scene.addresses.manager} as ${anna.email} until `),
  ])
  const who = await svcAt(home.path, ['whoami', '--output', 'json'])
  expect(JSON.parse(who.out)).toMatchObject({ id: anna.subject, url: scene.addresses.manager })
})

test('a form of another origin is not passed on with the session of somebody', async () => {
  const { tab } = await openTab(browser, `${scene.addresses.manager}/cli/authorize?code=BCDF-GHJK`)
  const [session] = await tab.context().cookies(scene.addresses.manager)
  const send = async (headers: Record<string, string>): Promise<number> => {
    const response = await fetch(`${scene.addresses.manager}/cli/authorize`, {
      method: 'POST',
      headers: {
        cookie: `${session?.name}=${session?.value}`,
        'content-type': 'application/x-www-form-urlencoded',
        ...headers,
      },
      body: 'code=BBBB-BBBB&form_token=x&decision=deny',
    })
    await response.body?.cancel()
    return response.status
  }
  const refused: Record<string, string>[] = [
    { origin: 'http://127.0.0.1:1' },
    { origin: 'null' },
    { origin: 'null', 'sec-fetch-site': 'same-site' },
    { origin: 'null', 'sec-fetch-site': 'cross-site' },
    { origin: scene.addresses.manager, 'sec-fetch-site': 'cross-site' },
  ]
  for (const headers of refused) expect([headers, await send(headers)]).toEqual([headers, 403])
  // The proxy forwards these requests, and the Manager returns 404 because it does not know the code.
  const passed: Record<string, string>[] = [
    { origin: 'null', 'sec-fetch-site': 'same-origin' },
    { origin: scene.addresses.manager, 'sec-fetch-site': 'same-origin' },
    { origin: scene.addresses.manager },
  ]
  for (const headers of passed) expect([headers, await send(headers)]).toEqual([headers, 404])
})
