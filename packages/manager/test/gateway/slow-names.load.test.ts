// Tests that DNS servers that never respond block only the project that uses their names, and nothing else in the
// process.
import { pbkdf2 } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createNameResolver } from '../../src/platform/outbound/names.ts'
import { type Gateway, type GatewayScene, gatewayScene, startGateway } from '../kit/gateway.ts'
import { type NameServer, startNameServer } from '../kit/name-server.ts'

const names = 20
/** This limit is much shorter than a DNS lookup that gets no response. */
const promptMs = 1_000
let server: NameServer
let gateway: Gateway
let neighbor: GatewayScene
beforeAll(async () => {
  server = await startNameServer()
  for (let i = 0; i < names; i++) server.zones.set(`silent${i}.example`, { isSilent: true })
  gateway = await startGateway({ world: { nameResolver: createNameResolver({ servers: [server.address] }) } })
  neighbor = await gatewayScene(gateway.service, 'neighbor')
})
afterAll(async () => {
  await gateway.close()
  await server.close()
})

const msOf = async (work: () => Promise<unknown>): Promise<number> => {
  const started = performance.now()
  await work()
  return performance.now() - started
}

test('lookups that hang leave the names of others, files and hashes alone', async () => {
  const { port } = gateway.upstream
  const silent = await Promise.all(
    Array.from({ length: names }, (_, i) => gateway.endpoint({ url: `http://silent${i}.example:${port}/` })),
  )
  // Host names that are not in the DNS cache yet.
  const fresh = await Promise.all(
    ['fresh0.example', 'fresh1.example', 'fresh2.example'].map((host) => {
      server.zones.set(host, { addresses: ['127.0.0.1'] })
      return neighbor.endpoint({ url: `http://${host}:${port}/` })
    }),
  )
  const hanging = silent.map(({ path }) => gateway.send(path))
  await expect.poll(() => server.questions.length).toBeGreaterThan(7)
  // The hanging lookups last longer than all rounds. The best round counts, because the machine may be busy.
  const rounds: number[][] = []
  for (const { path } of fresh)
    rounds.push(
      await Promise.all([
        msOf(async () => expect((await neighbor.send(path)).status).toBe(200)),
        msOf(() => readFile(new URL(import.meta.url))),
        msOf(() => promisify(pbkdf2)('a', 'b', 1_000, 32, 'sha256')),
      ]),
    )
  const best = [0, 1, 2].map((work) => Math.min(...rounds.map((round) => round[work] ?? Infinity)))
  process.stdout.write(
    `beside ${names} lookups that hang: ${best.map((ms) => ms.toFixed(1)).join(', ')} ms\n`,
  )
  for (const ms of best) expect(ms).toBeLessThan(promptMs)
  for (const answer of await Promise.all(hanging))
    expect(answer).toMatchObject({
      status: 502,
      error: 'the call could not be forwarded: the name of the upstream cannot be resolved',
    })
})
