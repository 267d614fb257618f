// Tests `npm run demo` from the command to a signed-in page, and to a shutdown that leaves nothing behind.
// shell.browser.test.ts tests the page itself.
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { anna } from '../tools/demo-data.ts'
import { signIn } from './kit/demo.ts'
import { type DevSandbox, createDevSandbox } from './kit/dev.ts'
import { launchBrowser } from './kit/pilet-page.ts'

let browser: Browser
let sandbox: DevSandbox
beforeAll(async () => {
  browser = await launchBrowser()
  sandbox = await createDevSandbox()
})
afterAll(async () => {
  await browser?.close()
  sandbox?.remove()
})

const port = (): number => Number(sandbox.env['SVC_PORT'])

test('it leads to a signed-in page with data, and Ctrl-C leaves no process', async () => {
  const run = sandbox.startDemo()
  const url = `http://localhost:${port()}`
  await run.wrote(`Open ${url} and choose Anna or Ben`)
  const { tab, complaints } = await signIn(browser, url, anna)
  await tab.getByRole('heading', { name: 'Welcome, Anna' }).waitFor()
  await tab.getByRole('heading', { name: 'Stock' }).waitFor()
  expect(complaints).toEqual([])
  // The service, PostgreSQL, Redis, the demo, npm and the backend.
  expect(sandbox.processes().length).toBeGreaterThanOrEqual(6)
  const outside = connect(port(), '127.0.0.2')
  expect(await once(outside, 'error')).toMatchObject([{ code: 'ECONNREFUSED' }])
  process.kill(-(run.child.pid as number), 'SIGINT')
  await run.exit
  await expect.poll(() => sandbox.processes()).toEqual([])
  expect(run.output()).not.toContain('rror')
})

test.each([
  [{ SVC_ENV: 'production' }, 'the demo signs people in without a password and runs only in development'],
  [{ SVC_DATABASE_URL: 'postgres://127.0.0.1/x' }, 'the demo uses its own database'],
  [{ DEMO_PORT: '0.0.0.0:80' }, 'DEMO_PORT is not a valid port: 0.0.0.0:80'],
])('it refuses to be anything else: %o', async (env, text) => {
  const run = sandbox.startDemo(env)
  expect(await run.exit).toBe(1)
  expect(run.output()).toContain(`error: ${text}`)
  expect(sandbox.processes()).toEqual([])
})
