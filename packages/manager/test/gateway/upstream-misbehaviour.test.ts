// Upstreams that answer badly, late or not at all: the caller is told 502, or sees that his answer is incomplete, the log
// has one row, and nothing of it stays behind.
import type { Socket } from 'node:net'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { type GatewayScene, type LoggedCall, gatewayScene } from '../kit/gateway.ts'
import { type Message, statusOf, valuesOf } from '../kit/http-messages.ts'
import { openRaw } from '../kit/raw-socket.ts'
import { type RawUpstream, startRawUpstream } from '../kit/raw-upstream.ts'
import {
  type BadAnswer,
  type Expected,
  brokenAnswers,
  largeAnswers,
  maxResponseBytes,
  slowAnswers,
} from './bad-answers.ts'
import { oddAnswers } from './odd-answers.ts'

const timeoutMs = 1_000
const marginMs = 1_300
const maxCalls = 60
const batchSize = 12
const cases = [...slowAnswers, ...largeAnswers, ...brokenAnswers, ...oddAnswers]
type Seen = {
  answers: Message[]
  ended: 'end' | 'reset' | null
  ms: number
  requestId: string
  rows: LoggedCall[]
}
type Endpoint = Awaited<ReturnType<GatewayScene['endpoint']>>

let service: TestApp
let upstream: RawUpstream
let scene: GatewayScene
let endpoints: Endpoint[]
let socketsBefore: number
/** Connections with good calls that wait for their answers. */
const held: Socket[] = []
/** What each case led to, for every log level. */
const seen = new Map<BadAnswer, Seen[]>()

beforeAll(async () => {
  service = await startTestApp({
    env: {
      SVC_ESB_FORWARD_TIMEOUT: `${timeoutMs}ms`,
      SVC_ESB_MAX_RESPONSE_BYTES: String(maxResponseBytes),
      SVC_ESB_MAX_CALLS_PER_ORIGIN: String(maxCalls),
    },
  })
  upstream = await startRawUpstream((socket, request) => {
    const [, number = ''] = /\?case=(\d+) /.exec(request.start) ?? []
    if (number === '') held.push(socket)
    else cases[Number(number)]?.play(socket, request)
  })
  scene = await gatewayScene(service)
  endpoints = await Promise.all(
    ['BASIC', 'FULL'].map((logLevel) => scene.endpoint({ url: `${upstream.url}/target`, logLevel })),
  )
  socketsBefore = await countSockets()
  // The slow ones all at once, and the others a few at a time, so that what they take is their own.
  const numbers = [...cases.keys()]
  const batches = [numbers.splice(0, slowAnswers.length)]
  while (numbers.length > 0) batches.push(numbers.splice(0, batchSize))
  for (const batch of batches) await Promise.all(batch.map(callAll))
  await addRows()
})
afterAll(async () => {
  await upstream.close()
  await service.close()
})

async function callAll(number: number): Promise<void> {
  const bad = cases[number] as BadAnswer
  seen.set(bad, await Promise.all(endpoints.map(({ path }) => call(`${path}?case=${number}`, bad.method))))
}

async function call(target: string, method = 'GET'): Promise<Seen> {
  const raw = await openRaw(service.url)
  const requestId = `id-${target.slice(-40).replaceAll(/\W/g, '-')}`
  const started = performance.now()
  raw.send(
    `${method} ${target} HTTP/1.1\r\nHost: h\r\nX-Request-Id: ${requestId}\r\n` +
      `Authorization: Bearer ${scene.machine.token}\r\n\r\n`,
  )
  const answers = await raw.wholeAnswers(1, { isHead: method === 'HEAD' })
  const ms = performance.now() - started
  const ended = raw.ended()
  raw.socket.destroy()
  return { answers, ended, ms, requestId, rows: [] }
}

/** The row of an answer that was cut is written a moment after. */
async function addRows(): Promise<void> {
  for (const [i, endpoint] of endpoints.entries()) {
    const rows = await vi.waitFor(async () => {
      const logged = await scene.logged(endpoint.id)
      expect(logged.filter(({ duration_ms }) => duration_ms === null)).toEqual([])
      return logged
    })
    for (const [number, bad] of cases.entries())
      ((seen.get(bad) as Seen[])[i] as Seen).rows = rows.filter((row) =>
        row.target_url.endsWith(`?case=${number}`),
      )
  }
}

/** Connections of this process, of the service and of the test, but for those to the database. */
async function countSockets(): Promise<number> {
  const { rows } = await service.sql.query<{ count: number }>(
    "select count(*)::int as count from pg_stat_activity where datname = current_database() and backend_type = 'client backend'",
  )
  const open = process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap')
  return open.length - (rows[0]?.count ?? 0)
}

function expectPassed(
  { answers, rows, requestId }: Seen,
  expected: Extract<Expected, { status: number }>,
): void {
  const [answer] = answers as [Message]
  expect([statusOf(answer), answer.isWhole]).toEqual([expected.status, true])
  expect(answer.body.toString('latin1')).toBe(expected.body)
  for (const [name, value] of Object.entries(expected.headers ?? {}))
    expect(valuesOf(answer, name)[0]).toBe(value)
  expect(valuesOf(answer, 'x-request-id')).toEqual([requestId])
  expect(rows).toMatchObject([{ response_status: expected.status, failure: null }])
}

function expectFailed(
  { answers, ended, rows }: Seen,
  expected: Extract<Expected, { failure: string | RegExp }>,
): void {
  const [answer] = answers as [Message]
  const isCut = statusOf(answer) !== 502
  if (expected.isCut !== 'either') expect(isCut).toBe(expected.isCut)
  // What was begun is cut; it is not another answer that ends well.
  if (isCut) expect([answer.isWhole, ended]).toEqual([false, 'end'])
  else
    expect(JSON.parse(answer.body.toString())).toMatchObject({
      error: expect.stringMatching(expected.failure),
    })
  expect(rows).toMatchObject([{ response_status: 502, failure: expect.stringMatching(expected.failure) }])
}

function expectOutcome(bad: BadAnswer): void {
  for (const one of seen.get(bad) as Seen[]) {
    expect(one.answers).toHaveLength(1)
    if ('status' in bad.expected) expectPassed(one, bad.expected)
    else expectFailed(one, bad.expected)
    expect(one.ms).toBeLessThan(timeoutMs + marginMs)
  }
}

test.each(slowAnswers)('[esb.forward-limits] late: $name', expectOutcome)
test.each(largeAnswers)('[esb.forward-limits] large: $name', expectOutcome)
test.each(brokenAnswers)('[esb.forward-failure] broken off: $name', expectOutcome)
test.each(oddAnswers)('[esb.forward-failure] [esb.response] odd: $name', expectOutcome)

test('a small answer that would be large is passed on and logged as it came', () => {
  const bomb = oddAnswers.find(({ name }) => name.includes('compressed')) as BadAnswer
  const [basic, full] = seen.get(bomb) as [Seen, Seen]
  const [answer] = full.answers as [Message]
  expect(answer.body.length).toBeLessThan(20_000)
  expect(full.rows).toMatchObject([{ response_body: `[binary, ${answer.body.length} bytes]` }])
  expect(basic.rows).toMatchObject([{ response_body: null }])
})

test('afterwards all places are free, no more and no less', async () => {
  for (let round = 0; round < 5; round++) {
    const { path } = endpoints[round % 2] as Endpoint
    const calls = Array.from({ length: maxCalls }, () => call(path))
    await expect.poll(() => held.length, { interval: 5 }).toBe(maxCalls)
    const [refused] = (await call(path)).answers as [Message]
    expect([statusOf(refused), valuesOf(refused, 'retry-after')]).toEqual([503, ['1']])
    for (const socket of held.splice(0)) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood')
    const answers = (await Promise.all(calls)).map(({ answers }) => answers[0] as Message)
    expect(new Set(answers.map((answer) => `${statusOf(answer)} ${answer.body.toString()}`))).toEqual(
      new Set(['200 good']),
    )
  }
})

test('afterwards no connection is left on either side, and nothing unforeseen was logged', async () => {
  await expect.poll(() => upstream.sockets.size, { timeout: 8_000 }).toBe(0)
  await expect.poll(countSockets, { timeout: 8_000 }).toBe(socketsBefore)
  expect(service.logLines.filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([])
  expect(upstream.problems).toEqual([])
})
