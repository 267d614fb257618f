// What calls through the gateway cost, counted: statements follow the round trips, not the calls.
import { Agent } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Gateway, startGateway } from '../kit/gateway.ts'
import { timedGet } from '../kit/http.ts'

let gateway: Gateway
const agent = new Agent({ keepAlive: true, maxSockets: 1_000 })

beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(async () => {
  agent.destroy()
  await gateway.close()
})

/** So many calls at once; answers the statements they cost. */
async function ask(path: string, count: number): Promise<string[]> {
  gateway.service.statements.length = 0
  const headers = { authorization: `Bearer ${gateway.machine.token}` }
  const answers = await Promise.all(
    Array.from({ length: count }, () => timedGet(agent, `${gateway.service.url}${path}`, headers)),
  )
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  return [...gateway.service.statements]
}

const builds = async (): Promise<number> => {
  const { values } = await gateway.service.world.metrics.prepared.get()
  return values
    .filter(({ labels }) => labels.answer === 'esb_target' && labels.outcome === 'built')
    .reduce((sum, { value }) => sum + value, 0)
}

test('64 warm calls at once cost at most 8 statements: tokens with the version, beginnings, ends', async () => {
  const { path } = await gateway.endpoint({ url: `${gateway.upstream.url}/target` })
  await ask(path, 64)
  const before = await builds()
  // On a busy machine the 64 do not always arrive at once; the fewest of some tries is what they cost when they do.
  let statements = await ask(path, 64)
  for (let tries = 0; tries < 9 && statements.length > 8; tries++) statements = await ask(path, 64)
  const count = (part: string): number => statements.filter((text) => text.includes(part)).length
  process.stdout.write(
    `64 warm calls: ${statements.length} statements (tokens ${count('machine_users')}, ` +
      `beginnings ${count('insert into esb_audit_logs')}, ends ${count('update esb_audit_logs')})\n`,
  )
  expect(statements.length).toBeLessThanOrEqual(8)
  expect(await builds()).toBe(before)
})

test('a single warm call costs three: its token, its beginning, its end', async () => {
  const { path } = await gateway.endpoint({ url: `${gateway.upstream.url}/target` })
  await ask(path, 1)
  expect(await ask(path, 1)).toHaveLength(3)
})

test('a call that is not logged costs one', async () => {
  const { path } = await gateway.endpoint({ url: `${gateway.upstream.url}/target`, logLevel: 'NONE' })
  await ask(path, 1)
  expect(await ask(path, 1)).toHaveLength(1)
})

test('250 first calls at once look the endpoint up once', async () => {
  const { path } = await gateway.endpoint({ url: `${gateway.upstream.url}/target`, logLevel: 'NONE' })
  const before = await builds()
  const statements = await ask(path, 250)
  expect(await builds()).toBe(before + 1)
  expect(statements.filter((text) => text.includes('consume_url'))).toHaveLength(1)
})
