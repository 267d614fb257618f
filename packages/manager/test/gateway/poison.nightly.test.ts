// Tests that bodies and templates that are designed to block the service do not block other calls.
import { Agent, request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { type GatewayScene, gatewayScene } from '../kit/gateway.ts'
import { startSteady } from '@manager/harness/steady.ts'
import { type Upstream, startUpstream } from '../kit/upstream.ts'
import { type LoopReport, type WatchedService, startWatched } from '../kit/watched-service.ts'
import { type Poison, poisons } from '@manager/harness/poisons.ts'

const maxLoopMs = 50
const perSecond = 100
const atOnce = 3

let service: TestApp
let running: WatchedService
let upstream: Upstream
let scene: GatewayScene
const agent = new Agent({ keepAlive: true })
beforeAll(async () => {
  ;[service, upstream] = await Promise.all([startTestApp(), startUpstream()])
  scene = await gatewayScene(service)
  // Starts a separate process, so that the measured event loop is not also busy with sending the calls.
  running = await startWatched(service.database.url, { SVC_SHUTDOWN_DRAIN_DELAY_MS: '0' })
})
afterAll(async () => {
  agent.destroy()
  running.child.kill('SIGTERM')
  expect(await running.exit).toBe(0)
  await upstream.close()
  await service.close()
})

type Answer = { status: number; code: string }

function post(path: string, body: Buffer): Promise<Answer> {
  const headers = { authorization: `Bearer ${scene.machine.token}`, 'content-length': body.length }
  return new Promise((resolve, reject) => {
    const outgoing = request(running.url + path, { method: 'POST', agent, headers }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => (text += chunk.toString()))
      response.on('end', () => {
        const { code = '' } = JSON.parse(text) as { code?: string }
        resolve({ status: response.statusCode ?? 0, code })
      })
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

/** Sends every poisonous body, several at a time, and returns the responses to each body. */
async function sendAll(paths: ReadonlyMap<Poison, string>): Promise<Map<Poison, Answer[]>> {
  const answers = new Map(poisons.map((poison) => [poison, [] as Answer[]]))
  const bodies = new Map(poisons.map((poison) => [poison, Buffer.from(poison.body)]))
  const left = poisons.flatMap((poison) => Array<Poison>(poison.times).fill(poison))
  const sendNext = async (): Promise<void> => {
    const poison = left.shift()
    if (poison === undefined) return
    answers.get(poison)?.push(await post(paths.get(poison) as string, bodies.get(poison) as Buffer))
    return sendNext()
  }
  await Promise.all(Array.from({ length: atOnce }, sendNext))
  return answers
}

/** Measures ordinary calls and the event loop delay while the work runs. */
async function beside<T>(
  path: string,
  work: () => Promise<T>,
): Promise<{ done: T; p99Ms: number; loop: LoopReport }> {
  const headers = { authorization: `Bearer ${scene.machine.token}` }
  const times: number[] = []
  const statuses = new Set<number>()
  await running.report()
  const calls = startSteady(perSecond, () => ({
    call: { url: running.url + path, headers, body: '{"a":1}' },
    onAnswer: ({ status, startedAt, answeredAt }) => {
      statuses.add(status)
      times.push(answeredAt - startedAt)
    },
  }))
  const done = await work()
  await calls.stop()
  const loop = await running.report()
  expect(statuses).toEqual(new Set([200]))
  times.sort((a, b) => a - b)
  return { done, p99Ms: times[Math.floor(times.length * 0.99)] ?? Infinity, loop }
}

const shown = ({ p99Ms, ownP99Ms, ownMaxMs }: LoopReport): string =>
  `loop p99 ${p99Ms.toFixed()} ms (own ${ownP99Ms.toFixed()} ms, max ${ownMaxMs.toFixed()} ms)`

test('poison keeps its own callers waiting, and the loop going', { timeout: 90_000 }, async () => {
  const ordinary = await scene.endpoint({
    url: `${upstream.url}/ordinary`,
    transformationTemplate: '{"a":{{toJson .Data.a}}}',
  })
  const paths = new Map<Poison, string>()
  await Promise.all(
    poisons.map(async (poison) => {
      const { path } = await scene.endpoint({ url: `${upstream.url}/poison`, ...poison.endpoint })
      paths.set(poison, path)
    }),
  )
  const wait = (ms: number) => () => new Promise<void>((resolve) => setTimeout(resolve, ms))
  await beside(ordinary.path, wait(700))
  const alone = await beside(ordinary.path, wait(1_500))
  const poisoned = await beside(ordinary.path, () => sendAll(paths))
  process.stdout.write(
    `poison: ${shown(poisoned.loop)}, without ${shown(alone.loop)}; ` +
      `ordinary p99 ${poisoned.p99Ms.toFixed()} ms, without ${alone.p99Ms.toFixed()} ms, ` +
      `ratio ${(poisoned.p99Ms / alone.p99Ms).toFixed(1)}\n`,
  )
  const wrong = [...poisoned.done].flatMap(([{ name, statuses }, answers]) =>
    answers
      .filter(({ status, code }) => code === 'internal' || ![...statuses, 503].includes(status))
      .map((answer) => ({ name, ...answer })),
  )
  expect(wrong).toEqual([])
  expect(poisoned.loop.ownP99Ms).toBeLessThanOrEqual(maxLoopMs)
})
