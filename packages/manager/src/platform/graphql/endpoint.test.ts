// Tests callers of POST /query that disconnect: waiting requests release their turn, and mutations that have started
// keep it.
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import fastify from 'fastify'
import { buildSchema } from 'graphql'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ApiServer } from '../http/declarations.ts'
import { registerGraphql } from './endpoint.ts'

let server: ApiServer
let admission: Promise<void> = Promise.resolve()
let waiting = 0
let running = 0
let ends: (() => void)[] = []

beforeEach(async () => {
  ;[admission, waiting, running, ends] = [Promise.resolve(), 0, 0, []]
  server = fastify()
  server.decorateRequest('logFields', { getter: () => ({}) })
  server.decorateRequest('hasFailed', false)
  server.addHook('onRequest', async () => {
    waiting++
    await admission
  })
  const schema = buildSchema('type Query { now: Boolean } type Mutation { change: Boolean }')
  const change = schema.getMutationType()?.getFields()['change']
  if (change === undefined) throw new Error('the schema has no mutation')
  change.resolve = async () => {
    running++
    await new Promise<void>((resolve) => ends.push(resolve))
    running--
  }
  registerGraphql(server, {
    schema,
    maxBodyBytes: 10_000,
    policy: { user: 'anyone' },
    getUserId: () => 'anna',
    createContext: () => ({}),
    mapDbError: () => null,
  })
  await server.listen({ host: '127.0.0.1', port: 0 })
})
afterEach(async () => {
  for (const end of ends) end()
  server.server.closeAllConnections()
  await server.close()
})

/** Sends a request that can be aborted before its response. */
function send(query: string) {
  const { port } = server.server.address() as AddressInfo
  const sent = request({
    port,
    host: '127.0.0.1',
    path: '/query',
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    agent: false,
  })
  const status = new Promise<number>((resolve) => {
    sent.once('response', (response) => resolve(response.resume().statusCode ?? 0))
    sent.once('error', () => resolve(0))
  })
  sent.end(JSON.stringify({ query }))
  return { status, leave: () => sent.destroy() }
}
const leftOpen = (): Promise<number> =>
  new Promise((resolve, reject) =>
    server.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  )

test('callers who leave while they are being admitted leave no turn behind', async () => {
  const { promise, resolve: admit } = Promise.withResolvers<void>()
  admission = promise
  const sent = Array.from({ length: 20 }, () => send('{ now }'))
  await expect.poll(() => waiting).toBe(20)
  for (const { leave } of sent) leave()
  await expect.poll(leftOpen).toBe(0)
  admit()
  expect(await send('{ now }').status).toBe(200)
})

test('a change whose caller has left keeps its turn until it ends', async () => {
  const sent = Array.from({ length: 8 }, () => send('mutation { change }'))
  await expect.poll(() => running).toBe(8)
  for (const { leave } of sent) leave()
  await expect.poll(leftOpen).toBe(0)
  const next = send('mutation { change }')
  await expect.poll(leftOpen).toBe(1)
  expect(running).toBe(8)
  ends[0]?.()
  await expect.poll(() => ends.length).toBe(9)
  ends[8]?.()
  expect(await next.status).toBe(200)
})
