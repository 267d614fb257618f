// What calls through the gateway cost, counted: statements follow the round trips, not the calls.
import { Agent } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { countedCalls } from '../kit/counted-statements.ts'
import { type Gateway, startGateway } from '../kit/gateway.ts'

let gateway: Gateway
const agent = new Agent({ keepAlive: true, maxSockets: 1_000 })

beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(async () => {
  agent.destroy()
  await gateway.close()
})

const { ask, builds } = countedCalls(agent, () => gateway)

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
