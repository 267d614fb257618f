// Runs the tutorial and the guides on the gateway, in the order of `played`, against a real service and the
// tutorial's partner. Bash runs the commands as a reader would. Only the two ports differ.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { settings } from '../src/settings.ts'
import { freePort } from '@manager/harness/engines/postgres.ts'
import { type TestApp, startTestApp } from './kit/app.ts'
import { headersOf } from '@manager/harness/callers.ts'
import { rawCall } from './kit/http.ts'
import {
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
import { seedUser } from '@manager/harness/seed.ts'

// Code blocks that contain the partner program and a query for operators.
const others = ['js', 'sql']
// Each page reuses the ids and the endpoint of the previous page.
const played = [
  'start/call-a-partner.md',
  'guides/backends/why-did-my-call-fail.md',
  'guides/backends/call-a-partner.md',
  'guides/backends/transform-a-body.md',
]
const written = played.map((name) => readPage(name)).join('\n')
const reference = readPage('reference/gateway.md')

let service: TestApp
let partner: ChildProcess
let page: string
let steps: Step[]
let askService: Ask
/** Working directory of the commands, with the operator's log file. */
const folder = mkdtempSync(join(tmpdir(), 'docs-esb-'))

beforeAll(async () => {
  service = await startTestApp()
  const port = await freePort()
  page = written
    .replaceAll('localhost:8080', `localhost:${new URL(service.url).port}`)
    .replaceAll(/(?<=localhost:|listen\()9000/g, String(port))
  steps = stepsOf(page, others)
  const program = blocksOf(page).find(({ language }) => language === 'js')?.text ?? ''
  partner = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(partner.stdout as NodeJS.ReadableStream, 'data')

  const identity = Object.entries(headersOf(await seedUser(service.sql, 'maintainer', 'administrator')))
  const runCommand = createShell(folder)
  askService = async (language, request) => {
    if (language === 'sh') {
      const log = service.logLines.map((line) => `${JSON.stringify(line)}\n`).join('')
      writeFileSync(join(folder, 'manager.log'), log)
      return runCommand(request)
    }
    const { status, headers, body } = await rawCall(service.url, {
      method: 'POST',
      path: '/query',
      headers: [['content-type', 'application/json'], ...identity],
      body: JSON.stringify({ query: request }),
    })
    return { status, headers, body: parseBody(body) }
  }
})
afterAll(async () => {
  partner.kill()
  await service.close()
  rmSync(folder, { recursive: true })
})

test('the page on the ESB is right in every answer, and a mistake in any of them shows', async () => {
  const answers = await runSteps(steps, askService)
  const blocks = blocksOf(page)
  const notPlayed = blocks.filter(({ language }) => others.includes(language))
  expect([answers.length * 2 + notPlayed.length, notPlayed.length]).toEqual([blocks.length, 2])
  await expectMistakesToShow(steps, answers)
})

test('every refusal that the page shows is in its table of checks', () => {
  const table = reference.slice(reference.indexOf('\n## Checks in order'), reference.indexOf('\n## Paths'))
  const refusals = steps.flatMap(({ expected: { body, status } }) =>
    typeof body === 'object' && body !== null && 'error' in body
      ? [{ status, error: String(body.error) }]
      : [],
  )
  expect(refusals).toHaveLength(4)
  for (const { status, error } of refusals) {
    const [text = ''] = error.split(/(?<=could not be forwarded: )/)
    const row = table.split('\n').find((line) => line.includes(`\`${text}`))
    expect([error, row?.split('|')[2]?.trim()]).toEqual([error, String(status)])
  }
})

test('every reason why a call cannot be forwarded is on the page', () => {
  const source = ['relay', 'reasons']
    .map((name) => readFileSync(new URL(`../src/platform/outbound/${name}.ts`, import.meta.url), 'utf8'))
    .join('')
  const reasons = [...source.matchAll(/(?:#fail\(|[:?] |return )'(the [^']+)'/g)].map(([, reason]) => reason)
  expect(reasons.length).toBeGreaterThan(20)
  expect(reasons.filter((reason) => !written.includes(`\`${reason}\``))).toEqual([])
})

test('every setting that the page names exists, and its limits are the defaults', () => {
  const pages = [written, reference, readPage('reference/templates.md')].join('\n')
  const known = new Map<string, unknown>(Object.values(settings).map((one) => [one.key, one.default]))
  const named = new Set(pages.match(/(?<=`)esb\.[a-z_.]+(?=`)/g))
  expect([...named].filter((name) => !known.has(name))).toEqual([])
  const factors: Record<string, number> = { MiB: 1_048_576, s: 1_000 }
  const rows = [...reference.matchAll(/\| (\d+)(?: (\w+))? +\| `(esb\.\w+)` +\|$/gm)]
  expect(rows).toHaveLength(7)
  for (const [, value, unit = '', key = ''] of rows)
    expect([key, Number(value) * (factors[unit] ?? 1)]).toEqual([key, known.get(key)])
})

test.each([
  ['an answer without its request', /```graphql[^`]*```\n\n(?=```json)/],
  ['a command without its answer', /(?<=```\n\n)```http[^`]*```\n/],
  ['a block of another kind', /(?<=```)sh/],
])('a page with %s is refused', (_, part) => {
  const broken = written.replace(part, '')
  expect(broken).not.toBe(written)
  expect(() => stepsOf(broken, others)).toThrow('expected a request and its response')
})
