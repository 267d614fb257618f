// Runs the pages on pilets in reading order, against a service that is started like `npm run dev`. Opens the
// tutorial's page in a browser. Bash runs the commands. Only the two ports differ.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { settings } from '../src/settings.ts'
import { freePort } from '@manager/harness/engines/postgres.ts'
import { type TestApp, startTestApp } from './kit/app.ts'
import { postQuery } from '@manager/harness/graphql.ts'
import { rawCall } from './kit/http.ts'
import { launchBrowser } from './kit/pilet-page.ts'
import { uploadPilet } from '@manager/harness/pilets.ts'
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
import { seedMember, seedUser } from '@manager/harness/seed.ts'

// Code blocks that contain the browser page and the server that stands in for the proxy.
const others = ['html', 'js']
/** The tutorial and the guides that continue it. */
const written = [
  'start/publish-a-pilet.md',
  'guides/frontends/stage-and-release.md',
  'guides/frontends/pin-a-version.md',
]
  .map(readPage)
  .join('\n')
const errorsPage = readPage('guides/frontends/publish-a-pilet.md')
const reasonsPage = readPage('guides/frontends/verify-pilets.md')
const limitsPage = readPage('reference/pilet-feed.md')
const loader = new URL('../../../examples/pilet-loader.mjs', import.meta.url).pathname
const folder = mkdtempSync(path.join(tmpdir(), 'docs-pilets-'))

let service: TestApp
let server: ChildProcess
let port: number
let page: string
let steps: Step[]
let answers: Answer[]
let shownOnPage: string

beforeAll(async () => {
  service = await startTestApp({ env: { SVC_ENV: 'development', SVC_DEV_USER_OVERRIDE_ENABLED: 'true' } })
  port = await freePort()
  page = written
    .replaceAll('localhost:8080', `localhost:${new URL(service.url).port}`)
    .replaceAll(/(?<=localhost:|listen\()9000/g, String(port))
  steps = stepsOf(page, others)
  answers = await runSteps(steps, createAsk())
})
afterAll(async () => {
  server?.kill()
  rmSync(folder, { recursive: true, force: true })
  await service.close()
})

const codeOf = (language: string) => {
  const found = blocksOf(page).filter((block) => block.language === language)
  expect(found).toHaveLength(1)
  return found[0] as (typeof found)[number]
}

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
    // A reader opens the page at this step. Later steps enable a different version.
    const isAtPage = (steps[asked.length]?.line ?? 0) > codeOf('js').line && shownOnPage === undefined
    if (isAtPage) shownOnPage = await openPage(asked)
    const answer = await ask(language, request)
    asked.push(answer)
    return answer
  }
}

/** Starts the stand-in for the proxy, opens its page, and returns the displayed text. */
async function openPage(asked: readonly Answer[]): Promise<string> {
  const bodies = asked.map(({ body }) => JSON.stringify(body))
  const idOf = (made: string): string =>
    new RegExp(`"${made}":\\{"id":"([^"]+)"`).exec(bodies.join('\n'))?.[1] ?? ''
  const [[keyId, key]] = Object.entries(asked.at(-1)?.body as Record<string, string>) as [[string, string]]
  const html = codeOf('html').text
  const filled = {
    '<key id>': keyId,
    '<public key>': key,
    '<application>': idOf('createApplication'),
    '<project>': idOf('createProject'),
  }
  const text = Object.entries(filled).reduce(
    (filling, [name, value]) => filling.replaceAll(name, value),
    html,
  )
  expect(text).not.toMatch(/<(?:key id|public key|application|project)>/)
  writeFileSync(path.join(folder, 'index.html'), text)
  writeFileSync(path.join(folder, 'server.mjs'), codeOf('js').text)
  copyFileSync(loader, path.join(folder, 'pilet-loader.mjs'))
  server = spawn(process.execPath, ['server.mjs'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  await once(server.stdout as NodeJS.ReadableStream, 'data')
  const browser = await launchBrowser()
  try {
    const tab = await browser.newPage()
    await tab.goto(`http://localhost:${port}`)
    return await tab.locator('main:not(:empty)').innerText({ timeout: 120_000 })
  } finally {
    await browser.close()
  }
}

test('the page on pilets is right in every answer, and a mistake in any of them shows', async () => {
  const blocks = blocksOf(page)
  const notPlayed = blocks.filter(({ language }) => others.includes(language))
  expect([answers.length * 2 + notPlayed.length, notPlayed.length]).toEqual([blocks.length, 2])
  await expectMistakesToShow(steps, answers)
})

test('the pilet of the page shows in a browser what the page says', () => {
  expect(shownOnPage).toBe('Hello from the Store')
  expect(written).toContain(`the page says “${shownOnPage}”`)
})

test('its limits are the defaults of the settings it names', () => {
  const known = new Map<string, unknown>(Object.values(settings).map((one) => [one.key, one.default]))
  const rows = [...limitsPage.matchAll(/\| (\d+) MiB +\| `([a-z_.]+)` +\|$/gm)]
  expect(rows).toHaveLength(4)
  for (const [, value, key = ''] of rows)
    expect([key, Number(value) * 1_048_576]).toEqual([key, known.get(key)])
  expect(readFileSync(loader, 'utf8')).toContain('64 * 1024 * 1024')
})

test('every reason for which the loader refuses a pilet is in its table, in the words of the loader', () => {
  const reasons = [...readFileSync(loader, 'utf8').matchAll(/new Error\(['`](it[^'`$]*)/g)].map(
    ([, reason]) => reason?.replace(/\d.*$/, '').trim() ?? '',
  )
  expect(reasons.length).toBeGreaterThan(6)
  expect(reasons.filter((reason) => !reasonsPage.includes(reason))).toEqual([])
})

const form = (field: string, content: string | File): FormData => {
  const made = new FormData()
  made.set(field, content)
  return made
}
const fileOf = (bytes: number): File =>
  new File([new Uint8Array(bytes)], 'index.js', { type: 'text/javascript' })
const send = (field: string, content: string | File) => ({ method: 'POST', body: form(field, content) })
const limit = 16 * 1_048_576

/** Requests below the project, sent as the development user, with the expected status. */
const refusals: [string, number, string, RequestInit][] = [
  ['a name with capitals', 400, 'Menu/1.0.0', send('file', fileOf(1))],
  ['a version with a v', 400, 'menu/v1.0.0', send('file', fileOf(1))],
  ['a form without a file', 400, 'menu/1.0.0', send('other', 'text')],
  ['a file in another field', 400, 'menu/1.0.0', send('other', fileOf(1))],
  ['an empty file', 400, 'menu/1.0.0', send('file', fileOf(0))],
  ['no such version', 404, 'menu/1.0.0', { method: 'GET' }],
  ['a version that exists', 409, '@shop%2Fhello/1.0.0', send('file', fileOf(1))],
  ['a bundle that is one byte too large', 413, 'menu/1.0.0', send('file', fileOf(limit + 1))],
  ['a bundle that is far too large', 413, 'menu/1.0.0', send('file', fileOf(limit + 100_000))],
  ['a body that is no form', 415, 'menu/1.0.0', { method: 'POST', body: 'export {}' }],
]
/** Returns the rows of the error table for this response. The table omits configurable numbers and roles. */
const rowsFor = (status: number, error: string): string[] => {
  const text = error.replace(/\d{5,}/, '…').replace(/(?<=requires ).*$/, '…')
  return errorsPage.split('\n').filter((row) => row.startsWith(`| ${status} `) && row.includes(`\`${text}\``))
}
const projectId = async (): Promise<string> => {
  const { data } = await postQuery(service.url, {}, '{ projects { id } }')
  return data.projects[0].id as string
}

test.each(refusals)('the table of errors has the text for %s', async (_, status, rest, init) => {
  const answer = await fetch(`${service.url}/pilets/${await projectId()}/${rest}`, init)
  const { error } = (await answer.json()) as { error: string }
  expect([answer.status, error, rowsFor(status, error)]).toEqual([status, error, [expect.any(String)]])
})

test('the table of errors has the texts for people without the role, and without any', async () => {
  const [reader, stranger] = [await seedUser(service.sql, 'reader'), await seedUser(service.sql, 'stranger')]
  const id = await projectId()
  await seedMember(service.sql, reader, 'readonly', { projectId: id })
  for (const [person, status] of [
    [reader, 403],
    [stranger, 403],
  ] as const) {
    const answer = await uploadPilet(service, person, { projectId: id, name: 'menu', version: '1.0.0' })
    const { error } = answer.body as { error: string }
    expect([answer.status, error, rowsFor(status, error)]).toEqual([status, error, [expect.any(String)]])
  }
})
