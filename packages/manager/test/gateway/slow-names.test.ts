// Tests that DNS servers that never respond block only the project that uses their names, and nothing else in the
// process.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createNameResolver } from '../../src/platform/outbound/names.ts'
import { type Gateway, startGateway } from '../kit/gateway.ts'
import { type NameServer, startNameServer } from '../kit/name-server.ts'

const names = 20
let server: NameServer
let gateway: Gateway
beforeAll(async () => {
  server = await startNameServer()
  for (let i = 0; i < names; i++) server.zones.set(`silent${i}.example`, { isSilent: true })
  gateway = await startGateway({ world: { nameResolver: createNameResolver({ servers: [server.address] }) } })
})
afterAll(async () => {
  await gateway.close()
  await server.close()
})

test('a name that leads to a refused address is refused, from memory too', async () => {
  const { port } = gateway.upstream
  server.zones.set('rebound.example', { addresses: ['127.0.0.1', '169.254.169.254'] })
  const { path } = await gateway.endpoint({ url: `http://rebound.example:${port}/` })
  const received = gateway.upstream.received.length
  for (let i = 0; i < 3; i++)
    expect(await gateway.send(path)).toMatchObject({
      status: 502,
      error: 'the call could not be forwarded: the address of the upstream is not allowed',
    })
  expect(gateway.upstream.received).toHaveLength(received)
  expect(server.questions.filter((question) => question.includes('rebound'))).toHaveLength(2)
})
