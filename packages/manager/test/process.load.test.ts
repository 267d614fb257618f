// Tests a process that receives SIGTERM while requests keep arriving.
import { Agent } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { headersOf } from '@manager/harness/callers.ts'
import { type TestDatabase, createScratchDatabase } from './kit/databases.ts'
import { timedPost } from './kit/http.ts'
import { statusOf } from '@manager/harness/http-messages.ts'
import { startRequest } from './kit/partial-requests.ts'
import { startProcess } from '@manager/harness/process.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createScratchDatabase()
})
afterAll(() => database.drop())

const person = { id: '0b54bc1c-2b1f-4a68-9a55-0c8a51a4c0de' }
const ask = JSON.stringify({ query: '{ me { id } }' })

describe('drain', () => {
  test('SIGTERM under 200 requests a second: no request fails, exit 0', async () => {
    const env = { SVC_SHUTDOWN_DRAIN_DELAY_MS: '2000' }
    const replicas = await Promise.all([startProcess(database.url, env), startProcess(database.url, env)])
    const ready = [true, true]
    const watch = setInterval(() => {
      for (const [i, replica] of replicas.entries())
        void fetch(`${replica.healthUrl}/readyz`).then(
          (response) => (ready[i] = response.status === 200),
          () => (ready[i] = false),
        )
    }, 100)
    const agents = replicas.map(() => new Agent({ keepAlive: true }))
    const [failures, pending]: [string[], Promise<void>[]] = [[], []]
    let sent = 0
    // Act like a proxy: send 200 requests per second for 6 s to replicas that report ready.
    await new Promise<void>((resolve) => {
      const timer = setInterval(() => {
        const target = ready[sent % 2] === true ? sent % 2 : ready[0] === true ? 0 : 1
        sent++
        if (sent === 300) replicas[0]?.child.kill('SIGTERM')
        const call = timedPost(
          agents[target] as Agent,
          `${replicas[target]?.url}/query`,
          headersOf(person),
          ask,
        ).then(
          ({ status }) => void (status === 200 || failures.push(`status ${status}`)),
          (error: Error) => void failures.push(error.message),
        )
        pending.push(call)
        if (sent < 1_200) return
        clearInterval(timer)
        resolve()
      }, 5)
    })
    await Promise.all(pending)
    clearInterval(watch)
    const exit = await replicas[0]?.exit
    process.stdout.write(`drain requests=${sent} failed=${failures.length} exit=${exit}\n`)
    expect([failures, exit]).toEqual([[], 0])
    replicas[1]?.child.kill('SIGTERM')
    expect(await replicas[1]?.exit).toBe(0)
    for (const agent of agents) agent.destroy()
  }, 40_000)

  test('SIGTERM while a body has stopped arriving: its connection is closed in time, exit 0', async () => {
    const env = { SVC_SHUTDOWN_DRAIN_DELAY_MS: '100', SVC_SHUTDOWN_TIMEOUT_MS: '5000' }
    const run = await startProcess(database.url, env)
    const headers = { ...headersOf(person), 'content-type': 'application/json' }
    const raw = await startRequest(run.url, { path: '/query', headers, length: 'content-length: 100' })
    await new Promise((resolve) => setTimeout(resolve, 500))
    run.child.kill('SIGTERM')
    expect(await run.exit).toBe(0)
    expect(raw.responses().map(statusOf)).toEqual([408])
  }, 40_000)
})
