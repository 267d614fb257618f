// `npm run demo` as a stranger starts it: from the command to the page of somebody who has signed in, and to an end that
// leaves nothing. What the page shows in general is in shell.browser.test.ts.
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { anna } from '../tools/demo-data.ts'
import { signIn } from './kit/demo.ts'
import { type DevPlace, createDevPlace } from './kit/dev.ts'
import { launchBrowser } from './kit/pilet-page.ts'

let browser: Browser
let place: DevPlace
beforeAll(async () => {
  browser = await launchBrowser()
  place = await createDevPlace()
})
afterAll(async () => {
  await browser?.close()
  place?.remove()
})

const port = (): number => Number(place.env['SVC_PORT'])

test('it leads to a signed-in page with data, and Ctrl-C leaves no process', async () => {
  const run = place.startDemo()
  const url = `http://localhost:${port()}`
  await run.wrote(`Open ${url} and choose Anna or Ben`)
  const { tab, complaints } = await signIn(browser, url, anna)
  await tab.getByRole('heading', { name: 'Welcome, Anna' }).waitFor()
  await tab.getByRole('heading', { name: 'Stock' }).waitFor()
  expect(complaints).toEqual([])
  // The service, its engines, the demo, npm and the backend.
  expect(place.processes().length).toBeGreaterThanOrEqual(6)
  const outside = connect(port(), '127.0.0.2')
  expect(await once(outside, 'error')).toMatchObject([{ code: 'ECONNREFUSED' }])
  process.kill(-(run.child.pid as number), 'SIGINT')
  await run.exit
  await expect.poll(() => place.processes()).toEqual([])
  expect(run.output()).not.toContain('rror')
})

test.each([
  [{ SVC_ENV: 'production' }, 'the demo signs people in without a password and runs in development alone'],
  [{ SVC_DATABASE_URL: 'postgres://127.0.0.1/x' }, 'the demo writes to a database of its own'],
  [{ DEMO_PORT: '0.0.0.0:80' }, 'DEMO_PORT is no port: 0.0.0.0:80'],
])('it refuses to be anything else: %o', async (env, text) => {
  const run = place.startDemo(env)
  expect(await run.exit).toBe(1)
  expect(run.output()).toContain(`error: ${text}`)
  expect(place.processes()).toEqual([])
})
