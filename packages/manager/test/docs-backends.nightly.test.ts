// Runs the tutorial docs/start/be-called-on-a-schedule.md against a real service and the tutorial's receiver. Bash
// runs the commands as a reader would. Only the two ports differ, and the test does not wait for the next minute.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseCron } from '../src/features/triggers/cron.pure.ts'
import { settings } from '../src/settings.ts'
import { freePort } from '@manager/harness/engines/postgres.ts'
import { headersOf } from '@manager/harness/callers.ts'
import { type TriggerScene, startTriggerScene } from './kit/callbacks.ts'
import { rawCall } from './kit/http.ts'
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

const root = new URL('../../../', import.meta.url).pathname
// Code blocks that contain the receiver and the signature verification.
const others = ['js', 'ts']
const written = ['start/be-called-on-a-schedule.md', 'guides/backends/verify-a-callback.md']
  .map((name) => readPage(name))
  .join('\n')
const runsPage = readPage('guides/backends/retry-a-failed-run.md')
const reference = readPage('reference/callbacks.md')
const codeOf = (language: string): string[] =>
  blocksOf(page)
    .filter((block) => block.language === language)
    .map(({ text }) => text)

let scene: TriggerScene
let receiver: ChildProcess
let page: string
let steps: Step[]
let answers: Answer[]

beforeAll(async () => {
  scene = await startTriggerScene()
  const port = await freePort()
  page = written
    .replaceAll('localhost:8080', `localhost:${new URL(scene.service.url).port}`)
    .replaceAll(/(?<=localhost:|listen\()9000/g, String(port))
  steps = stepsOf(page, others)
  receiver = spawn(process.execPath, ['--input-type=module', '-e', codeOf('js')[0] ?? ''], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(receiver.stdout as NodeJS.ReadableStream, 'data')
  answers = await runSteps(steps, createAsk())
})
afterAll(async () => {
  receiver.kill()
  await scene.close()
})

function createAsk(): Ask {
  const runCommand = createShell(tmpdir())
  const identity = Object.entries(headersOf(scene.admin))
  return async (language, request) => {
    if (language === 'sh') return runCommand(request)
    const due = /triggerRuns\(trigger: "([^"]+)"/.exec(request)?.[1]
    if (due !== undefined) {
      await scene.makeDue(due)
      await scene.plan()
      await scene.deliver()
    }
    const { status, headers, body } = await rawCall(scene.service.url, {
      method: 'POST',
      path: '/query',
      headers: [['content-type', 'application/json'], ...identity],
      body: JSON.stringify({ query: request }),
    })
    return { status, headers, body: parseBody(body) }
  }
}

test('the page on backends is right in every answer, and a mistake in any of them shows', async () => {
  const blocks = blocksOf(page)
  const notPlayed = blocks.filter(({ language }) => others.includes(language))
  expect([answers.length * 2 + notPlayed.length, notPlayed.length]).toEqual([blocks.length, 3])
  await expectMistakesToShow(steps, answers)
})

test('the library verifies what arrived, in the words of the page', () => {
  const bodies = answers.map(({ body }) => body as Record<string, unknown>)
  const callback = bodies.find((body) => 'headers' in body) as { headers: object; body: string }
  const signingSecret = bodies.find((body) => 'token' in body)?.['signing_secret'] as string
  const verify = (rawBody: string): string => {
    const given = { signingSecret, rawBody, headers: callback.headers }
    const program = `const { signingSecret, rawBody, headers } = ${JSON.stringify(given)}\n${codeOf('js')[1]}\nprocess.stdout.write(run_key)`
    return execFileSync(process.execPath, ['--input-type=module', '-e', program], {
      cwd: root,
      encoding: 'utf8',
      stdio: 'pipe',
    })
  }
  expect(verify(callback.body)).toBe('invoices')
  expect(() => verify(callback.body.replace('invoices', 'pirates'))).toThrow('No matching signature found')
})

test('verifying by hand is as the example does it, which a test runs', () => {
  const [function_ = ''] = codeOf('ts')
  expect(function_).toContain('timingSafeEqual')
  expect(readFileSync(`${root}examples/careful-backend.ts`, 'utf8')).toContain(function_)
})

test('every setting that the page names exists, and its limits are the defaults', () => {
  const known = new Map<string, unknown>(Object.values(settings).map((one) => [one.key, one.default]))
  const pages = [written, runsPage, reference].join('\n')
  const named = new Set(pages.match(/(?<=`)(?:callbacks|triggers)\.[a-z_]+(?=`)/g))
  expect([...named].filter((name) => !known.has(name))).toEqual([])
  const rows = [...reference.matchAll(/\| (\d+)( s)? +\| `([a-z_.]+)` +\|$/gm)]
  expect(rows).toHaveLength(8)
  for (const [, value, unit, key = ''] of rows)
    expect([key, Number(value) * (unit === undefined ? 1 : 1_000)]).toEqual([key, known.get(key)])
  expect(known.get('triggers.retry_delays')).toEqual([5_000, 30_000, 120_000])
})

test('every outcome is in its table', async () => {
  const { rows } = await scene.service.sql.query<{ definition: string }>(
    `select pg_get_constraintdef(oid) as definition from pg_constraint
     where conrelid = 'trigger_runs'::regclass and contype = 'c' and pg_get_constraintdef(oid) like '%skipped%'`,
  )
  const known = [...(rows[0]?.definition ?? '').matchAll(/'([a-z_]+)'/g)].map(([, outcome]) => outcome ?? '')
  const table = runsPage.slice(runsPage.indexOf('| outcome'), runsPage.indexOf('\n| `failure`'))
  expect([...table.matchAll(/^\| `(\w+)`/gm)].map(([, outcome]) => outcome ?? '').toSorted()).toEqual(
    known.toSorted(),
  )
})

test('every example of a cron expression is one, and what is said to be refused is refused', () => {
  const schedules = readPage('guides/backends/schedule-calls.md')
  const examples = [...schedules.matchAll(/^\| `([*@\d][^`]*)` +\|/gm)].map(([, text]) => text ?? '')
  expect(examples).toHaveLength(5)
  for (const text of [...examples, '0 22-23,0-4 * * *', '5-59/10 * * * *', 'CRON_TZ=Europe/Berlin @weekly'])
    expect(() => parseCron(text)).not.toThrow()
  for (const text of [
    '0 0 30 2 *',
    '0 22-4 * * *',
    '5/10 * * * *',
    '0 0 L * *',
    '0 0 * * fri#1',
    '0 0 ? * *',
  ])
    expect(() => parseCron(text)).toThrow()
})
