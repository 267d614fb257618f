// Tests callers that announce a body and then send none, stall, or send slowly. They use at most the share of their
// project, and only for a short time.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  type Gateway,
  type GatewayScene,
  type LoggedCall,
  gatewayScene,
  startGateway,
} from '../kit/gateway.ts'
import { type Message, statusOf } from '@manager/harness/http-messages.ts'
import { type RawSocket, openRaw } from '../kit/raw-socket.ts'
import { startImpatientGateway, stallMs } from '../kit/slow-bodies.ts'

const tooSlowly = 'the request body arrived too slowly'
const template = { transformationTemplate: 'x' }
const opened: RawSocket[] = []
afterEach(() => {
  for (const { socket } of opened.splice(0)) socket.destroy()
})

/** Sends the head of a POST and part of its body, and then nothing. */
async function begin(gateway: Gateway, path: string, length: number, part: string): Promise<RawSocket> {
  const raw = await openRaw(gateway.service.url)
  opened.push(raw)
  raw.send(
    `POST ${path} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${gateway.machine.token}\r\n` +
      `Content-Length: ${length}\r\n\r\n${part}`,
  )
  return raw
}
const statusFor = async (raw: RawSocket): Promise<number> =>
  statusOf((await raw.completeResponses(1))[0] as Message)

async function endedRow(scene: Pick<GatewayScene, 'logged'>, id: string): Promise<LoggedCall> {
  await expect.poll(async () => (await scene.logged(id))[0]?.duration_ms ?? null).not.toBeNull()
  return (await scene.logged(id))[0] as LoggedCall
}

describe('with the limits as they are', () => {
  let gateway: Gateway
  let neighbor: GatewayScene
  beforeAll(async () => {
    gateway = await startGateway()
    neighbor = await gatewayScene(gateway.service, 'neighbor')
  })
  afterAll(() => gateway.close())

  test('bodies that are announced and not sent take nothing from template calls of anybody', async () => {
    const input = { url: gateway.upstream.url, ...template }
    const [own, foreign] = [await gateway.endpoint(input), await neighbor.endpoint(input)]
    const announced = 10 * 1_048_576
    for (let i = 0; i < 13; i++) await begin(gateway, own.path, announced, '{')
    await expect.poll(async () => (await gateway.logged(own.id)).length).toBe(13)
    const body = 'x'.repeat(announced)
    for (const { send, path } of [
      { send: neighbor.send, path: foreign.path },
      { send: gateway.send, path: own.path },
    ])
      expect(await send(path, { method: 'POST', body })).toMatchObject({ status: 200 })
  })
})

describe('what a project really holds', () => {
  const [maxBody, share] = [400_000, 1_048_576]
  let gateway: Gateway
  let neighbor: GatewayScene
  beforeAll(async () => {
    gateway = await startGateway({
      env: { SVC_ESB_MAX_REQUEST_BYTES: String(maxBody), SVC_ESB_MAX_BUFFERED_BYTES: String(4 * share) },
    })
    neighbor = await gatewayScene(gateway.service, 'neighbor')
  })
  afterAll(() => gateway.close())

  test('is a share of the whole, leaves the rest to others, and is given back', async () => {
    const input = { url: gateway.upstream.url, ...template }
    const [own, foreign] = [await gateway.endpoint(input), await neighbor.endpoint(input)]
    const body = 'x'.repeat(maxBody)
    const post = (scene: GatewayScene, path: string) => scene.send(path, { method: 'POST', body })
    // Two rounds: if the first one leaked anything, the second one would not get the full share of its project.
    for (let round = 0; round < 2; round++) {
      const calls = await Promise.all(
        Array.from({ length: 12 }, () => begin(gateway, own.path, maxBody, body.slice(1))),
      )
      // Nine bodies fit into seven eighths of the budget, regardless of their order.
      const isAnswered = (raw: RawSocket): boolean => raw.received().length > 0
      await expect.poll(() => calls.filter(isAnswered).length).toBe(3)
      const [refused, kept] = [calls.filter(isAnswered), calls.filter((raw) => !isAnswered(raw))]
      for (const raw of refused) expect(await statusFor(raw)).toBe(503)
      expect(await post(gateway, own.path)).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
      expect(await neighbor.send(foreign.path, { method: 'POST', body: 'x'.repeat(50_000) })).toMatchObject({
        status: 200,
      })
      for (const raw of kept) raw.send('x')
      expect(await Promise.all(kept.map(statusFor))).toEqual(Array(9).fill(200))
      expect(await post(gateway, own.path)).toMatchObject({ status: 200 })
    }
  })

  test('counts what arrived, however small its parts', async () => {
    const { path } = await gateway.endpoint({ url: gateway.upstream.url, ...template })
    const raw = await begin(gateway, path, 3_000, '')
    raw.socket.setNoDelay(true)
    for (let i = 0; i < 3_000; i++) {
      raw.send('x')
      if (i % 10 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    expect(await statusFor(raw)).toBe(200)
  })
})

const kinds: [string, Record<string, unknown>][] = [
  ['is passed on', {}],
  ['is transformed', template],
]
describe('a body that comes in parts', () => {
  let gateway: Gateway
  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.close())

  test.each(kinds)('is served when it %s', async (_kind, more) => {
    const { id, path } = await gateway.endpoint({ url: gateway.upstream.url, ...more })
    const raw = await begin(gateway, path, 20_000, '')
    for (let i = 0; i < 10; i++) {
      raw.send('x'.repeat(2_000))
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    expect(await statusFor(raw)).toBe(200)
    expect(await endedRow(gateway, id)).toMatchObject({ response_status: 200, failure: null })
  })
})

describe('a body has to come', () => {
  let gateway: Gateway
  beforeAll(async () => {
    gateway = await startImpatientGateway()
  })
  afterAll(() => gateway.close())
  afterEach(() => gateway.upstream.reset())

  describe.each(kinds)('when it %s', (_kind, more) => {
    const start = async (length: number, part: string) => {
      const endpoint = await gateway.endpoint({ url: gateway.upstream.url, ...more })
      return { raw: await begin(gateway, endpoint.path, length, part), id: endpoint.id }
    }
    const expectEnded = async ({ raw, id }: { raw: RawSocket; id: string }): Promise<void> => {
      const [answer] = (await raw.completeResponses(1)) as [Message]
      expect([statusOf(answer), JSON.parse(answer.body.toString())]).toMatchObject([
        400,
        { error: tooSlowly },
      ])
      await raw.waitUntil(() => false)
      expect(await endedRow(gateway, id)).toMatchObject({ response_status: 400, failure: tooSlowly })
      expect(gateway.upstream.received).toEqual([])
    }

    test('and without a pause that is too long', async () => {
      await expectEnded(await start(1_000, 'begun'))
    })

    test('faster than in drops', async () => {
      const call = await start(1_000_000, 'begun')
      const drops = setInterval(() => call.raw.send('x'), stallMs / 10)
      await expectEnded(call).finally(() => clearInterval(drops))
    })

    test('within its time, however steadily', async () => {
      const call = await start(10_000_000, 'begun')
      const parts = setInterval(() => call.raw.send('x'.repeat(20_000)), stallMs / 10)
      await expectEnded(call).finally(() => clearInterval(parts))
    })
  })
})
