// Runs the tutorial and the guides on notifications, in the order of `played`, against a service that is started
// like `npm run dev`. The tutorial's page is open in a browser. Bash runs the commands as a reader would. Only the
// two ports differ.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { limits } from '../src/features/notifications/emit-input.pure.ts'
import { settings } from '../src/settings.ts'
import { freePort } from '@manager/harness/engines/postgres.ts'
import { type TestApp, startTestApp } from './kit/app.ts'
import { clientFile } from './kit/comms-client.ts'
import { type Shown, codeOfPage, waitForTab } from './kit/comms-page.ts'
import { rawCall } from './kit/http.ts'
import { launchBrowser } from './kit/pilet-page.ts'
import {
  type Answer,
  type Ask,
  type Step,
  blocksOf,
  expectMistakesToShow,
  parseBody,
  readPage,
  runSteps,
  stepsOf,
} from './kit/doc-page-runner.ts'
import { createShell } from './kit/doc-shell.ts'

// Code blocks that contain the browser page and the stand-in for the proxy.
const others = ['html', 'js']
// Each page reuses the ids of the previous page.
const played = [
  'start/notify-a-person.md',
  'guides/backends/publish-live-data.md',
  'guides/backends/notify-a-user.md',
]
const written = played.map((name) => readPage(name)).join('\n')
const reference = readPage('reference/machine-api.md')
const [first, second] = ['Order 17 is on its way', 'The warehouse closes at noon']
const folder = mkdtempSync(path.join(tmpdir(), 'docs-comms-'))

let service: TestApp
let server: ChildProcess
let browser: Browser
let tab: Page
let port: number
let page: string
let steps: Step[]
let answers: Answer[]
/** Maps chapter titles to the content of the open page as soon as it shows the expected data. */
const seen: Record<string, Shown | string> = {}

beforeAll(async () => {
  service = await startTestApp({ env: { SVC_ENV: 'development', SVC_DEV_USER_OVERRIDE_ENABLED: 'true' } })
  port = await freePort()
  page = written
    .replaceAll('localhost:8080', `localhost:${new URL(service.url).port}`)
    .replaceAll(/(?<=localhost:|listen\()9000/g, String(port))
  steps = stepsOf(page, others)
  browser = await launchBrowser()
  answers = await runSteps(steps, createAsk())
})
afterAll(async () => {
  await browser?.close()
  server?.kill()
  rmSync(folder, { recursive: true, force: true })
  await service.close()
})

function createAsk(): Ask {
  const runCommand = createShell(folder)
  const asked: Answer[] = []
  const ask: Ask = async (language, request) => {
    if (language === 'sh') return runCommand(request)
    const { status, headers, body } = await rawCall(service.url, {
      method: 'POST',
      path: '/query',
      headers: [['content-type', 'application/json']],
      body: JSON.stringify({ query: request }),
    })
    return { status, headers, body: parseBody(body) }
  }
  return async (language, request) => {
    const at = steps[asked.length]?.line ?? 0
    if (server === undefined && at > codeOfPage('js', {}, page).line) await serve(asked)
    if (tab === undefined && at > codeOfPage('html', {}, page).line) await openTab()
    const answer = await ask(language, request)
    asked.push(answer)
    await look(request)
    return answer
  }
}

/** Starts the stand-in for the proxy. */
async function serve(asked: readonly Answer[]): Promise<void> {
  const said = asked.map(({ body }) => JSON.stringify(body)).join('\n')
  const idOf = (form: RegExp): string => form.exec(said)?.[1] ?? ''
  const values = {
    application: idOf(/"createApplication":\{"id":"([^"]+)"/),
    acme: idOf(/"createTenant":\{"id":"([^"]+)"/),
    user: idOf(/"me":\{"id":"([^"]+)"/),
  }
  writeFileSync(path.join(folder, 'server.mjs'), codeOfPage('js', values, page).text)
  writeFileSync(path.join(folder, 'index.html'), codeOfPage('html', values, page).text)
  copyFileSync(clientFile, path.join(folder, 'comms-client.mjs'))
  server = spawn(process.execPath, ['server.mjs'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  await once(server.stdout as NodeJS.ReadableStream, 'data')
}

async function openTab(): Promise<void> {
  tab = await browser.newPage()
  await tab.goto(`http://localhost:${port}`)
  seen['The bell'] = await waitForTab(tab, { titles: [first], hasDot: true })
}

/** Waits until the page shows the effect of a command. */
async function look(request: string): Promise<void> {
  if (request.includes(second)) seen['See it arrive'] = await waitForTab(tab, { titles: [second, first] })
  if (request.includes('"all": true')) seen['Read'] = await waitForTab(tab, { hasDot: false })
  if (request.includes('comms/publish')) {
    await tab.locator('#stock', { hasText: '12' }).waitFor({ timeout: 60_000 })
    seen['Publish'] = await tab.locator('p', { hasText: 'Tulips' }).innerText()
  }
}

test('the page on comms is right in every answer, and a mistake in any of them shows', async () => {
  const blocks = blocksOf(page)
  const notPlayed = blocks.filter(({ language }) => others.includes(language))
  expect([answers.length * 2 + notPlayed.length, notPlayed.length]).toEqual([blocks.length, 2])
  await expectMistakesToShow(steps, answers)
})

describe('the bell of the page, in a browser', () => {
  test('has a dot for what came before it was opened', () => {
    expect(seen['The bell']).toEqual({
      titles: [first],
      unread: [first],
      hasDot: true,
      label: 'Notifications, some unread',
      note: 'You have unread notifications.',
    })
  })

  test('shows what is emitted while it is open, on top', () => {
    expect(seen['See it arrive']).toMatchObject({ titles: [second, first], hasDot: true })
  })

  test('loses the dot when everything is read elsewhere', () => {
    expect(seen['Read']).toMatchObject({ unread: [], label: 'Notifications', note: '' })
  })

  test('shows live data in the words of the page', () => {
    expect(written).toContain(`The page says “${seen['Publish'] as string}”`)
  })
})

test('its limits are the defaults of the settings it names', () => {
  const known = new Map<string, unknown>(Object.values(settings).map((one) => [one.key, one.default]))
  const rows = [...reference.matchAll(/\| (\d+) +\| `(comms\.[a-z_]+)` +\|$/gm)]
  expect(rows).toHaveLength(5)
  for (const [, value, key = ''] of rows) expect([key, Number(value)]).toEqual([key, known.get(key)])
  const pages = [written, reference, readPage('explanation/notifications.md')].join('\n')
  const named = new Set(pages.match(/(?<=`)comms\.[a-z_]+(?=`)/g))
  named.delete('comms.enabled')
  expect([...named].filter((name) => !known.has(name))).toEqual([])
})

test('its limits of fields are those that are checked', () => {
  const shown: [string, string][] = [
    ['recipients', limits.recipients.toLocaleString('en')],
    ['roles', String(limits.roles)],
    ['type', `${limits.type} characters`],
    ['title', `${limits.title}, ${limits.body.toLocaleString('en')} characters`],
    ['link', `${limits.link.toLocaleString('en')} characters`],
    ['data', `${limits.dataBytes / 1024} KiB, ${limits.dataDepth} levels`],
    ['dedupe_key', `${limits.key} characters`],
  ]
  const table = reference.slice(reference.indexOf('\n## Notifications'))
  for (const [field, text] of shown) {
    const line = table.split('\n').find((one) => one.startsWith(`| \`${field}\``))
    expect(line).toContain(`| ${text} `)
  }
  expect(table).toContain(`\`topic\` (at most ${limits.topic} characters)`)
})
