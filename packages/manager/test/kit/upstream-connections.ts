// Calls to upstreams that answer too early or unasked, and the connections that are given up then.
import { expect, vi } from 'vitest'
import type { TestApp } from './app.ts'
import type { GatewayScene } from './gateway.ts'
import { type Message, statusOf, valuesOf } from '@manager/harness/http-messages.ts'
import { openRaw } from './raw-socket.ts'
import {
  type Play,
  type RawUpstream,
  type RawUpstreamOptions,
  startRawUpstream,
} from '@manager/harness/raw-upstream.ts'

/** Addresses of metadata services. */
export const metadataUrls = [
  'http://169.254.169.254/latest',
  'http://[fe80::1]/',
  'http://[::ffff:169.254.169.254]/',
]

export const answering =
  (text: string): Play =>
  (socket) =>
    void socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`)

/** Upstreams that are started are added to `upstreams`; who calls closes them. */
export function upstreamConnections(
  connected: () => { service: TestApp; scene: GatewayScene; upstreams: RawUpstream[] },
) {
  async function start(play: Play, options?: RawUpstreamOptions): Promise<RawUpstream> {
    const upstream = await startRawUpstream(play, options)
    connected().upstreams.push(upstream)
    return upstream
  }

  /** The answer to a call, and what the log says of it. */
  async function call(url: string, more = '\r\n') {
    const { service, scene } = connected()
    const { id, path } = await scene.endpoint({ url })
    const raw = await openRaw(service.url)
    raw.send(`POST ${path} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${scene.machine.token}\r\n${more}`)
    const [answer] = (await raw.wholeAnswers(1)) as [Message]
    const [row, ...others] = await scene.logged(id)
    expect(others).toEqual([])
    return { raw, answer, outcome: [statusOf(answer), row?.response_status, row?.failure] }
  }

  /** The connection to the upstream is closed within `timeout`. */
  async function expectEarlyAnswerPassedOn(end: string, timeout: number): Promise<void> {
    const upstream = await start(
      (socket) => {
        socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 5\r\n\r\nhello', () => {
          if (end === 'fin') socket.end()
          if (end === 'reset') setTimeout(() => socket.resetAndDestroy(), 50)
        })
      },
      { when: 'head' },
    )
    const { raw, answer, outcome } = await call(upstream.url, 'Content-Length: 1000\r\n\r\nbegun')
    expect(outcome).toEqual([413, 413, null])
    expect([answer.body.toString(), valuesOf(answer, 'connection')]).toEqual(['hello', ['close']])
    await raw.until(() => false)
    expect(raw.ended()).toBe('end')
    await vi.waitFor(() => expect(upstream.sockets.size).toBe(0), { timeout })
  }

  /** What nobody asked for reaches nobody, and its connection is closed within `timeout`. */
  async function expectUnaskedDropped(timeout: number): Promise<void> {
    const { scene } = connected()
    let count = 0
    const upstream = await start((socket, request) => {
      count++
      answering(`answer ${count}`)(socket, request)
      setTimeout(() => answering('unasked')(socket, request), 20)
    })
    const { path } = await scene.endpoint({ url: upstream.url })
    const texts: string[] = []
    for (let i = 0; i < 3; i++) {
      texts.push(await (await scene.call(path)).text())
      // The connection is given up at the first byte of it.
      await vi.waitFor(() => expect(upstream.sockets.size).toBe(0), { timeout, interval: 5 })
    }
    expect(texts).toEqual(['answer 1', 'answer 2', 'answer 3'])
  }
  return { start, call, expectEarlyAnswerPassedOn, expectUnaskedDropped }
}
