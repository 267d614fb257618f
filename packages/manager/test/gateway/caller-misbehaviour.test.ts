// Tests callers that disconnect, stall or do not read: each accepted call has one log row, and nothing else is left
// behind.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { type GatewayScene, gatewayScene } from '../kit/gateway.ts'
import { type Message, statusOf } from '@manager/harness/http-messages.ts'
import { answer, disconnects, disconnectingCallers } from '../kit/disconnecting-callers.ts'
import { type RawUpstream, startRawUpstream } from '@manager/harness/raw-upstream.ts'

/** Expectations must be met before the upstream timeout of 1 min. */
const soon = { timeout: 50_000, interval: 10 }
const abandoned = { response_status: null, failure: expect.stringMatching(/^the caller /) }

let service: TestApp
let upstream: RawUpstream
let scene: GatewayScene
beforeAll(async () => {
  service = await startTestApp()
  upstream = await startRawUpstream(answer, { when: 'head' })
  scene = await gatewayScene(service)
})
afterAll(async () => {
  await upstream.close()
  await service.close()
})

const { headOf, startCall, endedRows, rowOf, expectNothingLeft } = disconnectingCallers(
  () => ({ service, upstream, scene }),
  soon,
)

describe.each(disconnects)('a caller who %s the connection', (_how, leave) => {
  const incomplete = (path: string): string => `${headOf(path, 'Content-Length: 1000')}begun`
  const inChunks = (path: string): string => `${headOf(path, 'Transfer-Encoding: chunked')}5\r\nhel`

  test.each([incomplete, inChunks])('before their body is complete: %#', async (bytes) => {
    const { raw, id } = await startCall((path) => bytes(`${path}?silent`))
    await vi.waitFor(() => expect(upstream.sockets.size).toBe(1), soon)
    leave(raw)
    expect(await rowOf(id)).toMatchObject(abandoned)
    await expectNothingLeft()
  })

  test.each([incomplete, inChunks])(
    'before a body that is to be transformed is complete: %#',
    async (bytes) => {
      const { raw, id } = await startCall(bytes, { transformationTemplate: '{{toJson .Data}}' })
      leave(raw)
      expect(await rowOf(id)).toMatchObject(abandoned)
      await expectNothingLeft()
    },
  )

  test('while the upstream is silent', async () => {
    const { raw, id } = await startCall((path) => headOf(`${path}?silent`))
    await vi.waitFor(() => expect(upstream.sockets.size).toBe(1), soon)
    leave(raw)
    expect(await rowOf(id)).toMatchObject(abandoned)
    await expectNothingLeft()
  })

  test('while the answer comes', async () => {
    const { raw, id } = await startCall((path) => headOf(`${path}?stream`))
    await raw.waitUntil(() => raw.received().includes('hello'))
    leave(raw)
    expect(await rowOf(id)).toMatchObject({
      ...abandoned,
      response_body: expect.stringMatching(/^\[text, \d+ bytes\]$/),
    })
    await expectNothingLeft()
  })

  test('with several calls on it', async () => {
    const { raw, id } = await startCall(
      (path) => headOf(`${path}?silent`) + headOf(`${path}?stream`) + headOf(path),
    )
    await vi.waitFor(async () => expect(await scene.logged(id)).toHaveLength(3), soon)
    leave(raw)
    expect(await endedRows(id)).toHaveLength(3)
    await expectNothingLeft()
  })
})

test('a caller who sends garbage while their answer comes finds nothing else in it, and not its end', async () => {
  const { raw, id } = await startCall((path) => headOf(`${path}?stream`))
  await raw.waitUntil(() => raw.received().includes('hello'))
  raw.send('garbage\r\n\r\n')
  await raw.waitUntil(() => false)
  const [answer] = raw.responses() as [Message]
  expect([statusOf(answer), answer.isWhole, answer.body.toString()]).toEqual([
    200,
    false,
    expect.stringMatching(/^(?:hello)+$/),
  ])
  expect(await rowOf(id)).toMatchObject(abandoned)
  await expectNothingLeft()
})
