// Tests the playground in a real browser: it loads everything from the service, and a typed query returns a result.
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { graphiqlTabs } from '../src/graphiql-tabs.ts'
import { ensureChromium } from '@manager/harness/engines/install.ts'
import { type TestApp, startTestApp } from './kit/app.ts'

let service: TestApp
let browser: Browser
beforeAll(async () => {
  service = await startTestApp({ env: { SVC_ENV: 'development', SVC_DEV_USER_OVERRIDE_ENABLED: 'true' } })
  const executablePath = ensureChromium()
  expect(existsSync(executablePath)).toBe(true)
  const args = [
    '--no-sandbox',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ]
  browser = await chromium.launch({ executablePath, args })
}, 300_000)
afterAll(async () => {
  await browser?.close()
  await service.close()
})

describe('GET /gql', () => {
  test('[graphql.playground] GraphiQL loads from the service alone, reads the schema and answers a query', async () => {
    const page = await browser.newPage()
    const [foreign, failures]: [string[], string[]] = [[], []]
    page.on('request', (request) => {
      const url = new URL(request.url())
      if (!['data:', 'blob:'].includes(url.protocol) && url.origin !== service.url)
        foreign.push(request.url())
    })
    page.on('pageerror', (error) => failures.push(error.message))
    const introspected = page.waitForResponse((response) => response.url().endsWith('/query'), {
      timeout: 120_000,
    })
    await page.goto(`${service.url}/gql?query=${encodeURIComponent('{ me { externalName } }')}`)
    expect((await introspected).status()).toBe(200)
    await page.getByRole('button', { name: /execute query/i }).click()
    await page.getByText('Development Administrator').waitFor({ timeout: 60_000 })
    expect([foreign, failures]).toEqual([[], []])
    await page.close()
  }, 240_000)

  test('it opens with a tab for each example, and the first one runs as it is', async () => {
    const page = await browser.newPage()
    await page.goto(`${service.url}/gql`)
    const titles = graphiqlTabs.map(({ query }) => /^(?:mutation|query) (\w+)/m.exec(query)?.[1])
    const tabs = page.locator('button.graphiql-tab-button')
    await tabs.first().waitFor({ timeout: 120_000 })
    expect((await tabs.allTextContents()).map((text) => text.trim())).toEqual(titles)
    await page.getByRole('button', { name: /execute query/i }).click()
    await page.getByText('"run"').waitFor({ timeout: 60_000 })
    await page.close()
  }, 240_000)
})
