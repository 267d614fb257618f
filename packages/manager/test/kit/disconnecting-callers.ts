// Callers that disconnect during a call, and the connections and log rows that they leave behind.
import type { Socket } from 'node:net'
import { expect, vi } from 'vitest'
import type { TestApp } from './app.ts'
import type { GatewayScene, LoggedCall } from './gateway.ts'
import type { Message } from '@manager/harness/http-messages.ts'
import { type RawSocket, openRaw } from './raw-socket.ts'
import type { RawUpstream } from '@manager/harness/raw-upstream.ts'

export const head = 'HTTP/1.1 200 OK\r\n'

/** Never responds, responds endlessly or responds immediately, depending on the query string. */
export function answer(socket: Socket, request: Message): void {
  if (request.start.includes('?silent')) return
  // Closes the connection after the response, so that it cannot be mistaken for a leaked connection.
  if (!request.start.includes('?stream'))
    return void socket.write(`${head}Connection: close\r\nContent-Length: 4\r\n\r\ngood`)
  socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`)
  const timer = setInterval(() => socket.write('5\r\nhello\r\n'), 10)
  socket.once('close', () => clearInterval(timer))
}

export const disconnects: [string, (raw: RawSocket) => void][] = [
  ['closes', ({ socket }) => void socket.destroy()],
  ['resets', ({ socket }) => void socket.resetAndDestroy()],
  ['ends their side of', ({ socket }) => void socket.end()],
]

/** Returns functions that call the upstream through the service. `soon` limits how long assertions wait. */
export function disconnectingCallers(
  called: () => { service: TestApp; upstream: RawUpstream; scene: GatewayScene },
  soon: { timeout: number; interval: number },
) {
  const headOf = (path: string, ...more: string[]): string =>
    [
      `POST ${path} HTTP/1.1`,
      'Host: h',
      `Authorization: Bearer ${called().scene.machine.token}`,
      ...more,
      '',
      '',
    ].join('\r\n')

  /** Starts a call to a new endpoint and sends `bytes`, which may be only part of the request. */
  async function startCall(bytes: (path: string) => string, input: Record<string, unknown> = {}) {
    const { service, upstream, scene } = called()
    const endpoint = await scene.endpoint({ url: `${upstream.url}/target`, logLevel: 'FULL', ...input })
    const raw = await openRaw(service.url)
    raw.send(bytes(endpoint.path))
    // The row exists before the service forwards or waits for anything.
    await vi.waitFor(async () => expect(await scene.logged(endpoint.id)).not.toEqual([]), soon)
    return { raw, id: endpoint.id }
  }

  /** Returns the rows of an endpoint once all its calls have ended. */
  const endedRows = (id: string): Promise<LoggedCall[]> =>
    vi.waitFor(async () => {
      const rows = await called().scene.logged(id)
      expect(rows.filter(({ duration_ms }) => duration_ms === null)).toEqual([])
      return rows
    }, soon)

  async function rowOf(id: string): Promise<LoggedCall> {
    const rows = await endedRows(id)
    expect(rows).toHaveLength(1)
    return rows[0] as LoggedCall
  }

  const inflight = async (): Promise<string | undefined> =>
    /^svc_http_inflight (\d+)$/m.exec(await called().service.world.metrics.registry.metrics())?.[1]

  async function expectNothingLeft(): Promise<void> {
    const { service, upstream } = called()
    await vi.waitFor(async () => expect([upstream.sockets.size, await inflight()]).toEqual([0, '0']), soon)
    expect(service.logLines.filter(({ level }) => level === 'error')).toEqual([])
  }
  return { headOf, startCall, endedRows, rowOf, expectNothingLeft }
}
