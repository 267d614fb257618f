// Tests that one user who floods the API with rejected documents over 64 connections does not slow down other users.
import { Agent } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Person, headersOf } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from './kit/app.ts'
import { json } from '@manager/harness/graphql.ts'
import { timedPost } from './kit/http.ts'
import { type ServiceProcess, startProcess } from '@manager/harness/process.ts'
import { seedProject, seedUser } from '@manager/harness/seed.ts'

let service: TestApp
/** The service runs in its own process, so that only the service is under load. */
let server: ServiceProcess
let hostile: Person
let ordinary: Person
beforeAll(async () => {
  service = await startTestApp()
  await seedProject(service.sql, 'shop')
  hostile = await seedUser(service.sql, 'hostile', 'administrator')
  ordinary = await seedUser(service.sql, 'ordinary', 'administrator')
  server = await startProcess(service.database.url)
})
afterAll(async () => {
  server.child.kill('SIGKILL')
  await service.close()
})

const connections = 64
const [pauseMs, phaseMs, rounds] = [5, 1_000, 4]

/** Part of a document that is just below the maximum size and contains one unknown field. */
const level = '... on Project { id name slug createdAt tenants { id name slug deploymentMode } }'
const costly = (n: number): string => `{ projects { ${`${level} `.repeat(60)} nothing${n} } }`
const aliases = (n: number): string => Array.from({ length: 31 }, (_, i) => `a${n}_${i}: me { id }`).join(' ')

const floods: [string, (n: number) => string][] = [
  ['another document each time', costly],
  ['the same document each time', () => costly(0)],
  [
    'what does not parse, and too many aliases',
    (n) => (n % 2 === 0 ? `{ projects { ${n}` : `{ ${aliases(n)} }`),
  ],
]

/** Sends requests on all connections, one at a time on each. `stop` returns the number of responses per status. */
function flood(textOf: (n: number) => string): { stop(): Promise<Map<number, number>> } {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const statuses = new Map<number, number>()
  const run = { sent: 0, isOver: false }
  const loop = async (): Promise<void> => {
    while (!run.isOver) {
      const body = json(textOf(run.sent++))
      const answer = await timedPost(agent, `${server.url}/query`, headersOf(hostile), body).catch(() => null)
      if (answer !== null) statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
      else if (!run.isOver) throw new Error('a flood request got no response')
    }
  }
  const loops = Array.from({ length: connections }, loop)
  return {
    stop: async () => {
      run.isOver = true
      agent.destroy()
      await Promise.all(loops)
      return statuses
    },
  }
}

const query = '{ projects { id slug tenants { id name } applications { id name } } }'
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Measures ordinary queries in milliseconds. Two callers send them in turn with short pauses. */
async function ordinaryTimes(): Promise<number[]> {
  const agent = new Agent({ keepAlive: true })
  const times: number[] = []
  const until = performance.now() + phaseMs
  const caller = async (): Promise<void> => {
    while (performance.now() < until) {
      const { status, ms } = await timedPost(agent, `${server.url}/query`, headersOf(ordinary), json(query))
      expect(status).toBe(200)
      times.push(ms)
      await wait(pauseMs)
    }
  }
  await Promise.all([caller(), caller()])
  agent.destroy()
  return times
}
const p99 = (times: number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] as number

test.each(floods)(
  'ordinary queries of others stay within twice their p99 while 64 connections send %s',
  { timeout: 180_000 },
  async (name, textOf) => {
    await ordinaryTimes()
    const shown: string[] = []
    const excesses: number[] = []
    for (let round = 0; round < rounds; round++) {
      const without = p99(await ordinaryTimes())
      const flooding = flood((n) => textOf(n + round * 1_000_000))
      // Wait until all connections are open and their requests are queued.
      await wait(500)
      const during = p99(await ordinaryTimes())
      const statuses = await flooding.stop()
      expect([...statuses.keys()]).toEqual([400])
      shown.push(`${without.toFixed(0)} and ${during.toFixed(0)}`)
      excesses.push(during - 2 * without)
    }
    process.stdout.write(`graphql-refused ${name}: p99 without and with, in ms: ${shown.join(', ')}\n`)
    // Checking one document takes some milliseconds, and an ordinary query may have to wait for it. Other
    // programs disturb individual rounds, but the flood affects every round.
    expect(excesses.toSorted((a, b) => a - b)[1]).toBeLessThan(15)
  },
)
