// Tests the file descriptor limit under load: idle connections do not lock out other clients or crash the process.
import { execFileSync } from 'node:child_process'
import { Agent, get } from 'node:http'
import { type Socket, connect } from 'node:net'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { headersOf } from '@manager/harness/callers.ts'
import { startTestApp } from './kit/app.ts'
import type { TestDatabase } from './kit/databases.ts'
import { startWithFdLimit, unknownPerson } from './kit/fd-limit.ts'
import { timedPost } from './kit/http.ts'
import { loadSize } from '@manager/harness/load-sizes.ts'
import type { ServiceProcess } from '@manager/harness/process.ts'

let database: TestDatabase
let service: ServiceProcess
let close: () => Promise<void>
beforeAll(async () => {
  ;({ database, service, close } = await startWithFdLimit())
})
afterAll(() => close())

const ask = JSON.stringify({ query: '{ me { id } }' })

/** Calls over a new connection. Returns the status, or 0 if there is no response. */
const callOnce = (url: string): Promise<number> =>
  timedPost(new Agent(), `${url}/query`, headersOf(unknownPerson), ask).then(
    ({ status }) => status,
    () => 0,
  )
const health = (url: string): Promise<number> =>
  new Promise((resolve) => {
    get(url, { agent: false, timeout: 5_000 }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
      .on('timeout', () => resolve(0))
      .on('error', () => resolve(0))
  })

/** Opens connections that send this text and then stay silent. */
async function crowd(url: string, count: number, text: string): Promise<Socket[]> {
  const sockets: Socket[] = []
  for (let opened = 0; opened < count; opened += 100) {
    const batch = Array.from({ length: 100 }, () => connect(Number(new URL(url).port), '127.0.0.1'))
    await Promise.all(
      batch.map(
        (socket) =>
          new Promise<void>((resolve) => {
            socket.on('error', () => resolve())
            socket.once('connect', () => socket.write(text === '' ? '' : text, () => resolve()))
            socket.resume()
          }),
      ),
    )
    sockets.push(...batch)
  }
  return sockets
}

describe('with 256 open files', () => {
  const connections = loadSize(600, 2_000)
  test.each([
    ['say nothing', ''],
    ['never end their request', 'POST /query HTTP/1.1\r\nhost: x\r\n'],
    ['have asked once', 'GET /health HTTP/1.1\r\nhost: x\r\n\r\n'],
  ])(
    `${connections} connections on each port that %s keep nobody out`,
    async (_, text) => {
      const sockets = [
        ...(await crowd(service.url, connections, text)),
        ...(await crowd(service.healthUrl, connections, text)),
      ]
      // Waits long enough for every timer to run in this state.
      await new Promise((resolve) => setTimeout(resolve, 1_500))
      for (let round = 0; round < 5; round++) {
        expect(await health(`${service.healthUrl}/healthz`)).toBe(200)
        expect(await health(`${service.healthUrl}/metrics`)).toBe(200)
        expect(await callOnce(service.url)).toBe(200)
      }
      const together = await Promise.all(Array.from({ length: 20 }, () => callOnce(service.url)))
      expect(together).toEqual(Array.from({ length: 20 }, () => 200))
      expect(service.child.exitCode).toBeNull()
      for (const socket of sockets) socket.destroy()
      expect(await callOnce(service.url)).toBe(200)
      expect(await health(`${service.healthUrl}/readyz`)).toBe(200)
    },
    60_000,
  )

  test('a connection that says nothing is closed after a while', async () => {
    const closed = await Promise.all(
      [service.url, service.healthUrl].map(
        (url) =>
          new Promise<number>((resolve) => {
            const start = performance.now()
            const socket = connect(Number(new URL(url).port), '127.0.0.1')
            socket.on('error', () => undefined)
            socket.resume()
            socket.once('close', () => resolve(performance.now() - start))
          }),
      ),
    )
    expect(Math.min(...closed)).toBeGreaterThan(1_000)
    expect(Math.max(...closed)).toBeLessThan(25_000)
  }, 60_000)

  test('a database connection that finds none left costs a 503, and nothing once there are some', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const call = () => timedPost(agent, `${service.url}/query`, headersOf(unknownPerson), ask)
    const limit = (files: string) =>
      execFileSync('prlimit', [`--pid=${service.child.pid}`, `--nofile=${files}`])
    expect((await call()).status).toBe(200)
    limit('16:256')
    const sql = new Pool({ connectionString: database.url, max: 1 })
    await sql.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
    const statuses = new Set<number>()
    for (const start = performance.now(); performance.now() - start < 3_000;)
      statuses.add((await call()).status)
    expect([...statuses]).toEqual([503])
    limit('256:256')
    await expect.poll(async () => (await call()).status, { timeout: 10_000 }).toBe(200)
    agent.destroy()
    await sql.end()
  }, 30_000)
})

describe('overload', () => {
  test('while the event loop lags, requests are answered 503 and health is answered', async () => {
    const app = await startTestApp()
    const seen: string[] = []
    // On a busy machine, the event loop delay may have ended before the request arrives.
    for (let attempt = 0; attempt < 3 && !seen.includes('503 1 200'); attempt++) {
      // The service shares this event loop.
      for (let round = 0; round < 2; round++) {
        for (const end = performance.now() + 2_000; performance.now() < end;);
        await new Promise((resolve) => setImmediate(resolve))
      }
      const [answer, alive] = await Promise.all([
        app.query(unknownPerson, '{ me { id } }'),
        fetch(`${app.url}/health`),
      ])
      seen.push(`${answer.status} ${answer.headers.get('retry-after')} ${alive.status}`)
    }
    expect(seen).toContain('503 1 200')
    await expect
      .poll(async () => (await app.query(unknownPerson, '{ me { id } }')).status, { timeout: 10_000 })
      .toBe(200)
    await app.close()
  })
})
