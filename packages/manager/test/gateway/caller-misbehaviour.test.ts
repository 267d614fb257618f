// Callers that go away, stop in the middle, or do not read: each call that was let in has its one row, and nothing of it
// stays behind.
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http'
import type { Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { type GatewayScene, type LoggedCall, gatewayScene } from '../kit/gateway.ts'
import { type Message, statusOf } from '../kit/http-messages.ts'
import { startProcess } from '../kit/process.ts'
import { type RawSocket, openRaw } from '../kit/raw-socket.ts'
import { type RawUpstream, startRawUpstream } from '../kit/raw-upstream.ts'

const timeoutMs = 2_000
/** Well before the upstream is given up. */
const soon = { timeout: 1_200, interval: 10 }
const abandoned = { response_status: null, failure: expect.stringMatching(/^the caller /) }
const head = 'HTTP/1.1 200 OK\r\n'

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

function answer(socket: Socket, request: Message): void {
  if (request.start.includes('?silent')) return
  // A connection that is not kept is not taken for one that was left behind.
  if (!request.start.includes('?stream'))
    return void socket.write(`${head}Connection: close\r\nContent-Length: 4\r\n\r\ngood`)
  socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`)
  const timer = setInterval(() => socket.write('5\r\nhello\r\n'), 10)
  socket.once('close', () => clearInterval(timer))
}

const headOf = (path: string, ...more: string[]): string =>
  [`POST ${path} HTTP/1.1`, 'Host: h', `Authorization: Bearer ${scene.machine.token}`, ...more, '', ''].join(
    '\r\n',
  )

/** A call to an endpoint of its own, of which `bytes` are sent. */
async function begin(bytes: (path: string) => string, input: Record<string, unknown> = {}) {
  const endpoint = await scene.endpoint({ url: `${upstream.url}/target`, logLevel: 'FULL', ...input })
  const raw = await openRaw(service.url)
  raw.send(bytes(endpoint.path))
  // The row is there before anything is forwarded or waited for.
  await vi.waitFor(async () => expect(await scene.logged(endpoint.id)).not.toEqual([]), soon)
  return { raw, id: endpoint.id }
}

/** The rows of an endpoint, once none of its calls goes on. */
const endedRows = (id: string): Promise<LoggedCall[]> =>
  vi.waitFor(async () => {
    const rows = await scene.logged(id)
    expect(rows.filter(({ duration_ms }) => duration_ms === null)).toEqual([])
    return rows
  }, soon)

async function rowOf(id: string): Promise<LoggedCall> {
  const rows = await endedRows(id)
  expect(rows).toHaveLength(1)
  return rows[0] as LoggedCall
}

const inflight = async (): Promise<string | undefined> =>
  /^svc_http_inflight (\d+)$/m.exec(await service.world.metrics.registry.metrics())?.[1]

async function expectNothingLeft(): Promise<void> {
  await vi.waitFor(async () => expect([upstream.sockets.size, await inflight()]).toEqual([0, '0']), soon)
  expect(service.logLines.filter(({ level }) => level === 'error')).toEqual([])
}

const leaving: [string, (raw: RawSocket) => void][] = [
  ['closes', ({ socket }) => void socket.destroy()],
  ['resets', ({ socket }) => void socket.resetAndDestroy()],
  ['ends his side of', ({ socket }) => void socket.end()],
]
describe.each(leaving)('a caller who %s the connection', (_how, leave) => {
  const incomplete = (path: string): string => `${headOf(path, 'Content-Length: 1000')}begun`
  const inChunks = (path: string): string => `${headOf(path, 'Transfer-Encoding: chunked')}5\r\nhel`

  test.each([incomplete, inChunks])('before his body is complete: %#', async (bytes) => {
    const { raw, id } = await begin((path) => bytes(`${path}?silent`))
    await vi.waitFor(() => expect(upstream.sockets.size).toBe(1), soon)
    leave(raw)
    expect(await rowOf(id)).toMatchObject(abandoned)
    await expectNothingLeft()
  })

  test.each([incomplete, inChunks])(
    'before a body that is to be transformed is complete: %#',
    async (bytes) => {
      const { raw, id } = await begin(bytes, { transformationTemplate: '{{toJson .Data}}' })
      leave(raw)
      expect(await rowOf(id)).toMatchObject(abandoned)
      await expectNothingLeft()
    },
  )

  test('while the upstream is silent', async () => {
    const { raw, id } = await begin((path) => headOf(`${path}?silent`))
    await vi.waitFor(() => expect(upstream.sockets.size).toBe(1), soon)
    leave(raw)
    expect(await rowOf(id)).toMatchObject(abandoned)
    await expectNothingLeft()
  })

  test('while the answer comes', async () => {
    const { raw, id } = await begin((path) => headOf(`${path}?stream`))
    await raw.until(() => raw.received().includes('hello'))
    leave(raw)
    expect(await rowOf(id)).toMatchObject({ ...abandoned, response_body: expect.stringContaining('hello') })
    await expectNothingLeft()
  })

  test('with several calls on it', async () => {
    const { raw, id } = await begin(
      (path) => headOf(`${path}?silent`) + headOf(`${path}?stream`) + headOf(path),
    )
    await vi.waitFor(async () => expect(await scene.logged(id)).toHaveLength(3), soon)
    leave(raw)
    expect(await endedRows(id)).toHaveLength(3)
    await expectNothingLeft()
  })
})

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
    leaving[i % leaving.length]?.[1](raw)
    await raw.until(() => false).finally(() => raw.socket.destroy())
  }
  for (let i = 0; i < calls; i += 30) await Promise.all(Array.from({ length: 30 }, (_, next) => go(i + next)))
  const rows = await endedRows(id)
  await expectNothingLeft()
  // Nobody blames the upstream.
  expect(rows.filter(({ response_status }) => response_status === 502)).toEqual([])
  expect(rows.length).toBeGreaterThan(calls / 2)
  expect(rows.length).toBeLessThanOrEqual(calls)
})

test('a caller who stops in a chunk is answered in time, and no longer listened to', async () => {
  const { raw, id } = await begin(
    (path) => `${headOf(`${path}?silent`, 'Transfer-Encoding: chunked')}5\r\nhel`,
  )
  const started = performance.now()
  const [answer] = (await raw.wholeAnswers(1)) as [Message]
  expect(statusOf(answer)).toBe(400)
  await raw.until(() => false)
  expect(performance.now() - started).toBeLessThan(timeoutMs + 1_500)
  // Not the upstream's fault, which has not had the whole request.
  expect(await rowOf(id)).toMatchObject({
    response_status: 400,
    failure: 'the caller sent its body too slowly',
  })
  await expectNothingLeft()
})

test('a caller who sends garbage while his answer comes finds nothing else in it, and not its end', async () => {
  const { raw, id } = await begin((path) => headOf(`${path}?stream`))
  await raw.until(() => raw.received().includes('hello'))
  raw.send('garbage\r\n\r\n')
  await raw.until(() => false)
  const [answer] = raw.answers() as [Message]
  expect([statusOf(answer), answer.isWhole, answer.body.toString()]).toEqual([
    200,
    false,
    expect.stringMatching(/^(?:hello)+$/),
  ])
  expect(await rowOf(id)).toMatchObject(abandoned)
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
  // Until nothing moves any more.
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
  // Who reads at last gets it all; who goes away is noted.
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
