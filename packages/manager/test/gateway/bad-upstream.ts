// Sends bad upstream responses to a gateway and checks the outcome of each call.
import type { Socket } from 'node:net'
import { afterAll, beforeAll, expect, vi } from 'vitest'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { type GatewayScene, type LoggedCall, gatewayScene } from '../kit/gateway.ts'
import { type Message, statusOf, valuesOf } from '@manager/harness/http-messages.ts'
import { openRaw } from '../kit/raw-socket.ts'
import { type RawUpstream, startRawUpstream } from '@manager/harness/raw-upstream.ts'
import { type BadAnswer, type Expected, maxResponseBytes } from '@manager/harness/bad-answers.ts'

const maxCalls = 60
const batchSize = 12
export type Seen = {
  answers: Message[]
  ended: 'end' | 'reset' | null
  ms: number
  requestId: string
  rows: LoggedCall[]
}
type Endpoint = Awaited<ReturnType<GatewayScene['endpoint']>>

/**
 * Runs all cases before the tests: the cases in `together` concurrently, and the cases in `others` in
 * batches.
 */
export function useBadUpstream(
  { together = [], others = [] }: { together?: readonly BadAnswer[]; others?: readonly BadAnswer[] },
  env: Record<string, string> = {},
) {
  const cases = [...together, ...others]
  let service: TestApp
  let upstream: RawUpstream
  let scene: GatewayScene
  let endpoints: Endpoint[]
  let connectionsBefore: number
  /** Upstream connections of good calls that wait for a response. */
  const held: Socket[] = []
  /** The outcomes of each case, one per log level. */
  const seen = new Map<BadAnswer, Seen[]>()

  beforeAll(async () => {
    service = await startTestApp({
      env: {
        SVC_ESB_MAX_RESPONSE_BYTES: String(maxResponseBytes),
        SVC_ESB_MAX_CALLS_PER_ORIGIN: String(maxCalls),
        ...env,
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
    connectionsBefore = await countConnections()
    const numbers = [...cases.keys()]
    const batches = [numbers.splice(0, together.length)]
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
    const answers = await raw.completeResponses(1, { isHead: method === 'HEAD' })
    const ms = performance.now() - started
    const ended = raw.ended()
    raw.socket.destroy()
    return { answers, ended, ms, requestId, rows: [] }
  }

  /** Adds the log rows to the outcomes. The row of an aborted response is written slightly later. */
  async function addRows(): Promise<void> {
    for (const [i, endpoint] of endpoints.entries()) {
      const rows = await vi.waitFor(
        async () => {
          const logged = await scene.logged(endpoint.id)
          expect(logged.filter(({ duration_ms }) => duration_ms === null)).toEqual([])
          return logged
        },
        { timeout: 60_000 },
      )
      for (const [number, bad] of cases.entries())
        ((seen.get(bad) as Seen[])[i] as Seen).rows = rows.filter((row) =>
          row.target_url.endsWith(`?case=${number}`),
        )
    }
  }

  /** Counts the client connections of the service. */
  const countConnections = (): Promise<number> =>
    new Promise((resolve, reject) => {
      service.app.server.server.getConnections((error, count) =>
        error === null ? resolve(count) : reject(error),
      )
    })

  return {
    seenOf: (bad: BadAnswer): Seen[] => seen.get(bad) as Seen[],
    expectOutcome: (bad: BadAnswer): void => {
      for (const one of seen.get(bad) as Seen[]) {
        expect(one.answers).toHaveLength(1)
        if ('status' in bad.expected) expectPassed(one, bad.expected)
        else expectFailed(one, bad.expected)
      }
    },
    /** Expects that all call slots are free, and that no more than `maxCalls` calls are accepted. */
    expectAllSlotsFree: async (): Promise<void> => {
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
    },
    /** Expects that no connection is left on either side, and that no unexpected error was logged. */
    expectNothingLeft: async (): Promise<void> => {
      await expect.poll(() => upstream.sockets.size).toBe(0)
      await expect.poll(countConnections).toBeLessThanOrEqual(connectionsBefore)
      expect(service.logLines.filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([])
      expect(upstream.problems).toEqual([])
    },
  }
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
  // A response that has started is aborted; it must not look like a complete response.
  if (isCut) expect([answer.isWhole, ended]).toEqual([false, 'end'])
  else
    expect(JSON.parse(answer.body.toString())).toMatchObject({
      error: expect.stringMatching(expected.failure),
    })
  expect(rows).toMatchObject([{ response_status: 502, failure: expect.stringMatching(expected.failure) }])
}
