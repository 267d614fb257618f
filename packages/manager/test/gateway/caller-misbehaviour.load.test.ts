// Tests many callers that disconnect, and responses that are not read: no call, connection or memory is leaked.
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { type GatewayScene, gatewayScene } from '../kit/gateway.ts'
import { type Message, statusOf } from '@manager/harness/http-messages.ts'
import { answer, head, disconnects, disconnectingCallers } from '../kit/disconnecting-callers.ts'
import { startProcess } from '@manager/harness/process.ts'
import { openRaw } from '../kit/raw-socket.ts'
import { type RawUpstream, startRawUpstream } from '@manager/harness/raw-upstream.ts'

const timeoutMs = 2_000
/** Expectations must be met well before the upstream timeout. */
const soon = { timeout: 1_200, interval: 10 }

let service: TestApp
let upstream: RawUpstream
let scene: GatewayScene
beforeAll(async () => {
  service = await startTestApp({ env: { SVC_ESB_FORWARD_TIMEOUT: `${timeoutMs}ms` } })
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

test('callers who go away at any moment leave nothing behind', async () => {
  const calls = 300
  const { id, path } = await scene.endpoint({ url: `${upstream.url}/target` })
  const targets = [path, `${path}?silent`, `${path}?stream`]
  const requests = targets.flatMap((target) => [
    headOf(target),
    `${headOf(target, 'Content-Length: 5')}hello`,
    `${headOf(target, 'Content-Length: 1000')}begun`,
  ])
  const go = async (i: number): Promise<void> => {
    const raw = await openRaw(service.url)
    raw.send(requests[i % requests.length] as string)
    await new Promise((resolve) => setTimeout(resolve, (i * 7) % 60))
    disconnects[i % disconnects.length]?.[1](raw)
    await raw.waitUntil(() => false).finally(() => raw.socket.destroy())
  }
  for (let i = 0; i < calls; i += 30) await Promise.all(Array.from({ length: 30 }, (_, next) => go(i + next)))
  const rows = await endedRows(id)
  await expectNothingLeft()
  // The calls are not logged as upstream failures.
  expect(rows.filter(({ response_status }) => response_status === 502)).toEqual([])
  expect(rows.length).toBeGreaterThan(calls / 2)
  expect(rows.length).toBeLessThanOrEqual(calls)
})

test('a caller who stops in a chunk is answered in time, and no longer listened to', async () => {
  const { raw, id } = await startCall(
    (path) => `${headOf(`${path}?silent`, 'Transfer-Encoding: chunked')}5\r\nhel`,
  )
  const started = performance.now()
  const [answer] = (await raw.completeResponses(1)) as [Message]
  expect(statusOf(answer)).toBe(400)
  await raw.waitUntil(() => false)
  expect(performance.now() - started).toBeLessThan(timeoutMs + 1_500)
  // The failure is not attributed to the upstream, which did not get the whole request.
  expect(await rowOf(id)).toMatchObject({
    response_status: 400,
    failure: 'the request body arrived too slowly',
  })
  await expectNothingLeft()
})

test('answers that nobody reads wait at their upstream, not in memory', async () => {
  const [callers, megabytes, bytesOfPart] = [5, 50, 65_536]
  const parts = (megabytes * 1_048_576) / bytesOfPart
  const part = Buffer.alloc(bytesOfPart, 'a')
  let sent = 0
  const large = await startRawUpstream((socket) => {
    socket.write(`${head}Content-Length: ${parts * bytesOfPart}\r\n\r\n`)
    const next = (left: number): void => {
      sent++
      socket.write(part, () => left > 1 && next(left - 1))
    }
    next(parts)
  })
  const { id, path } = await scene.endpoint({ url: large.url })
  const running = await startProcess(service.database.url, {
    SVC_ESB_MAX_RESPONSE_BYTES: String(100 * 1_048_576),
    SVC_ESB_FORWARD_TIMEOUT: '60s',
    SVC_SHUTDOWN_DRAIN_DELAY_MS: '0',
  })
  onTestFinished(async () => {
    running.child.kill('SIGTERM')
    await running.exit
    await large.close()
  })
  const memory = async (): Promise<number> => {
    const text = await (await fetch(`${running.healthUrl}/metrics`)).text()
    return Number(/^svc_process_resident_memory_bytes (\d+)/m.exec(text)?.[1]) / 1_048_576
  }
  const agent = new Agent()
  const get = (): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${scene.machine.token}` }
      httpRequest(running.url + path, { agent, headers }, resolve)
        .once('error', reject)
        .end()
    })
  const before = await memory()
  const answers = await Promise.all(Array.from({ length: callers }, get))
  // Wait until no more data is transferred.
  await vi.waitFor(
    async () => {
      const until = sent
      await new Promise((resolve) => setTimeout(resolve, 150))
      expect(sent).toBe(until)
    },
    { timeout: 10_000 },
  )
  expect(sent).toBeLessThan((callers * parts) / 2)
  const grown = (await memory()) - before
  process.stdout.write(`${callers} unread answers of ${megabytes} MB: ${Math.round(grown)} MB more memory\n`)
  expect(grown).toBeLessThan(100)
  // A late reader gets the whole response. The calls of disconnected callers are logged without a status.
  let bytes = 0
  for await (const chunk of answers[0] as IncomingMessage) bytes += (chunk as Buffer).length
  expect(bytes).toBe(parts * bytesOfPart)
  agent.destroy()
  const rows = await endedRows(id)
  expect(rows).toHaveLength(callers)
  expect(rows.filter(({ response_status }) => response_status !== null)).toMatchObject([
    { response_status: 200 },
  ])
})
