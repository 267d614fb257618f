// Calls upstreams that respond early or without a request, and checks that their connections are closed.
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

/** Addresses of cloud metadata services. */
export const metadataUrls = [
  'http://169.254.169.254/latest',
  'http://[fe80::1]/',
  'http://[::ffff:169.254.169.254]/',
]

export const respondWith =
  (text: string): Play =>
  (socket) =>
    void socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`)

/**
 * Returns functions that start upstreams and call them. Started upstreams are added to `upstreams`, which the test must
 * close.
 */
export function upstreamConnections(
  connected: () => { service: TestApp; scene: GatewayScene; upstreams: RawUpstream[] },
) {
  async function start(play: Play, options?: RawUpstreamOptions): Promise<RawUpstream> {
    const upstream = await startRawUpstream(play, options)
    connected().upstreams.push(upstream)
    return upstream
  }

  /** Returns the response to a call and its logged outcome. */
  async function call(url: string, more = '\r\n') {
    const { service, scene } = connected()
    const { id, path } = await scene.endpoint({ url })
    const raw = await openRaw(service.url)
    raw.send(`POST ${path} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${scene.machine.token}\r\n${more}`)
    const [answer] = (await raw.completeResponses(1)) as [Message]
    const [row, ...others] = await scene.logged(id)
    expect(others).toEqual([])
    return { raw, answer, outcome: [statusOf(answer), row?.response_status, row?.failure] }
  }

  /** Expects that an early response is forwarded, and that the connection to the upstream closes within `timeout`. */
  async function expectEarlyResponseForwarded(end: string, timeout: number): Promise<void> {
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
    await raw.waitUntil(() => false)
    expect(raw.ended()).toBe('end')
    await vi.waitFor(() => expect(upstream.sockets.size).toBe(0), { timeout })
  }

  /**
   * Expects that no caller receives an unsolicited response, and that the connection to the upstream closes within
   * `timeout`.
   */
  async function expectUnsolicitedDropped(timeout: number): Promise<void> {
    const { scene } = connected()
    let count = 0
    const upstream = await start((socket, request) => {
      count++
      respondWith(`answer ${count}`)(socket, request)
      setTimeout(() => respondWith('unsolicited')(socket, request), 20)
    })
    const { path } = await scene.endpoint({ url: upstream.url })
    const texts: string[] = []
    for (let i = 0; i < 3; i++) {
      texts.push(await (await scene.call(path)).text())
      // The connection is closed at the first unsolicited byte.
      await vi.waitFor(() => expect(upstream.sockets.size).toBe(0), { timeout, interval: 5 })
    }
    expect(texts).toEqual(['answer 1', 'answer 2', 'answer 3'])
  }
  return { start, call, expectEarlyResponseForwarded, expectUnsolicitedDropped }
}
