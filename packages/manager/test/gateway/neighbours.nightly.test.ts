// Tests that an upstream that hangs blocks only its own callers.
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { type GatewayScene, gatewayScene } from '../kit/gateway.ts'
import { type ServiceProcess, startProcess } from '@manager/harness/process.ts'
import { type RawUpstream, startRawUpstream } from '@manager/harness/raw-upstream.ts'
import { type TimedAnswer, startSteady } from '@manager/harness/steady.ts'
import { type Upstream, startUpstream } from '../kit/upstream.ts'

const maxCalls = 64
const timeoutMs = 1_000
let service: TestApp
let running: ServiceProcess
let scene: GatewayScene
let goodUpstream: Upstream
let silent: RawUpstream
let slow: RawUpstream
let headers: Record<string, string>
beforeAll(async () => {
  ;[service, goodUpstream, silent, slow] = await Promise.all([
    startTestApp(),
    startUpstream(),
    startRawUpstream(() => undefined),
    startRawUpstream((socket) => {
      const timer = setInterval(() => socket.write('H'), 50)
      socket.once('close', () => clearInterval(timer))
    }),
  ])
  scene = await gatewayScene(service)
  headers = { authorization: `Bearer ${scene.machine.token}` }
  // Start a separate process, so that the measurement excludes the work of this process.
  running = await startProcess(service.database.url, {
    SVC_ESB_FORWARD_TIMEOUT: `${timeoutMs}ms`,
    SVC_ESB_MAX_CALLS_PER_ORIGIN: String(maxCalls),
    SVC_SHUTDOWN_DRAIN_DELAY_MS: '0',
  })
})
afterAll(async () => {
  running.child.kill('SIGTERM')
  expect(await running.exit).toBe(0)
  for (const upstream of [goodUpstream, silent, slow]) await upstream.close()
  await service.close()
})

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Calls at this rate until the work is done, and returns the responses. */
async function callWhile(
  work: () => Promise<void>,
  perSecond: number,
  paths: readonly string[],
): Promise<TimedAnswer[]> {
  const answers: TimedAnswer[] = []
  let next = 0
  const calls = startSteady(perSecond, () => ({
    call: { url: running.url + paths[next++ % paths.length], headers },
    onAnswer: (answer) => void answers.push(answer),
  }))
  await work()
  await calls.stop()
  return answers
}

const statusesOf = (answers: readonly { status: number }[]): number[] => [
  ...new Set(answers.map(({ status }) => status)),
]
function p99(answers: readonly TimedAnswer[]): number {
  const times = answers.map(({ startedAt, answeredAt }) => answeredAt - startedAt).toSorted((a, b) => a - b)
  return times[Math.floor(times.length * 0.99)] ?? Infinity
}

test('calls to a good upstream take as long beside calls to ones that hang', async () => {
  const [good, ...bad] = await Promise.all(
    [goodUpstream, silent, slow].map(({ url }) => scene.endpoint({ url: `${url}/target` })),
  )
  const goodPaths = [good?.path as string]
  const badPaths = bad.map(({ path }) => path)
  const callGood = (): Promise<TimedAnswer[]> => callWhile(() => wait(1_000), 200, goodPaths)
  // Warm up before measuring, because the first calls are slower.
  await Promise.all([callGood(), callWhile(() => wait(200), 40, badPaths)])
  // On a busy machine, individual calls can be slow for unrelated reasons. Add rounds until one round with bad calls
  // is as fast as the rounds without them. This never happens if bad calls slow down other calls.
  const rounds: { alone: number; beside: number }[] = []
  const isUnmoved = (): boolean => {
    const alone = Math.max(...rounds.map((round) => round.alone))
    const beside = Math.min(...rounds.map((round) => round.beside))
    return beside <= Math.max(1.2 * alone, alone + 5)
  }
  while (rounds.length < 5 && !isUnmoved()) {
    const alone = await callGood()
    let beside: TimedAnswer[] = []
    const measure = async (): Promise<void> => {
      // From here on, bad calls start, wait and fail continuously.
      await wait(timeoutMs)
      beside = await callGood()
    }
    const held = await callWhile(measure, 40, badPaths)
    expect(statusesOf([...alone, ...beside])).toEqual([200])
    expect(statusesOf(held)).toEqual([502])
    rounds.push({ alone: p99(alone), beside: p99(beside) })
  }
  for (const { alone, beside } of rounds)
    process.stdout.write(
      `good p99: alone ${alone.toFixed(1)} ms, beside bad upstreams ${beside.toFixed(1)} ms\n`,
    )
  expect(isUnmoved()).toBe(true)
})

test('a flood of calls to an upstream that hangs is turned away, and others are served', async () => {
  const [good, held] = await Promise.all(
    [goodUpstream, silent].map(({ url }) => scene.endpoint({ url: `${url}/target` })),
  )
  const call = (path: string): Promise<Response> => fetch(running.url + path, { headers })
  const before = silent.requests.length
  const first = Array.from({ length: maxCalls }, () => call(held?.path as string))
  await vi.waitFor(() => expect(silent.requests.length).toBe(before + maxCalls), { interval: 10 })
  const further = await Promise.all(Array.from({ length: maxCalls }, () => call(held?.path as string)))
  expect(statusesOf(further)).toEqual([503])
  expect(new Set(further.map((answer) => answer.headers.get('retry-after')))).toEqual(new Set(['1']))
  const others = await Promise.all(Array.from({ length: 50 }, () => call(good?.path as string)))
  expect(statusesOf(others)).toEqual([200])
  expect(silent.requests.length).toBe(before + maxCalls)
  expect(statusesOf(await Promise.all(first))).toEqual([502])
  // Every call slot is free again.
  const again = Array.from({ length: maxCalls }, () => call(held?.path as string))
  expect(statusesOf(await Promise.all(again))).toEqual([502])
  expect(silent.requests.length).toBe(before + 2 * maxCalls)
})
