// Tests that svc login waits between two polls, whatever the server returns.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { toPollDelayMs } from '../src/login.ts'
import { svcAt, useFolder } from './kit/svc.ts'

const home = useFolder()

test.each([
  [5, 5_000],
  [10, 10_000],
  [1, 1_000],
  [0.5, 1_000],
  [0, 1_000],
  [-7, 1_000],
  [-Infinity, 1_000],
  [Infinity, 60_000],
  [3_000_000, 60_000],
  [Number.NaN, 5_000],
  [undefined, 5_000],
  [null, 5_000],
  ['0', 5_000],
  [{}, 5_000],
])('an interval of %o seconds is a wait of %i ms', (interval, expected) => {
  expect(toPollDelayMs(interval, 5_000)).toBe(expected)
})

const statuses: Readonly<Record<string, number>> = { 'not found': 404 }
/**
 * A server that returns the next of these bodies for each request. The first request starts the login, and all others
 * are polls. `times` contains the times of the polls.
 */
async function startServer(start: object, polls: readonly object[]) {
  const times: number[] = []
  const server = createServer((request, response) => {
    const answer = async (): Promise<object> => {
      await json(request)
      if (request.url === '/api/cli/login/start') return start
      times.push(performance.now())
      return polls[times.length - 1] ?? { status: 'denied' }
    }
    const headers = { 'content-type': 'application/json', 'retry-after': '0' }
    void answer().then((body) =>
      response
        .writeHead('error' in body ? (statuses[String(body.error)] ?? 503) : 200, headers)
        .end(JSON.stringify(body)),
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    times,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
const login = {
  session_id: 's',
  verification_uri: 'http://127.0.0.1/',
  user_code: 'BBBB-BBBB',
  expires_at: '2099-01-01T00:00:00Z',
}

test.concurrent.each([
  ['zero', { status: 'authorization_pending', interval: 0 }],
  ['negative', { status: 'authorization_pending', interval: -5 }],
  ['a fraction of a second', { status: 'slow_down', interval: 0.001 }],
  ['no number', { status: 'slow_down', interval: 'NaN' }],
  ['missing', { status: 'authorization_pending' }],
  ['that of a Retry-After of 0', { error: 'unavailable' }],
])('a login polls at most once a second when the interval is %s', async (_name, pending) => {
  const server = await startServer({ ...login, interval: 0 }, [pending])
  try {
    const { code, err } = await svcAt(home.path, ['login', '--url', server.url])
    expect([code, err]).toEqual([1, expect.stringContaining('svc: The login was denied in the browser.\n')])
    const [first = 0, second = 0] = server.times
    expect(server.times).toHaveLength(2)
    // A timer may fire slightly early.
    expect(second - first).toBeGreaterThan(950)
  } finally {
    await server.close()
  }
})

test('a login that the Manager has dropped is told as one that has expired', async () => {
  const server = await startServer({ ...login, interval: 0 }, [{ error: 'not found' }])
  try {
    const { code, err } = await svcAt(home.path, ['login', '--url', server.url])
    expect([code, err]).toEqual([
      1,
      expect.stringContaining(
        'svc: The login has expired or was removed by the Manager. Run svc login again.\n',
      ),
    ])
  } finally {
    await server.close()
  }
})
