// Tests that callbacks never connect to this machine, even if an attacker controls their names and redirects.
import { createServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type NameServer, startNameServer } from '../../../test/kit/name-server.ts'
import { parseCallbackUrl } from './callback-url.ts'
import { createCallbacksPolicy } from './egress-policies.ts'
import { createAddressRules } from './egress.ts'
import { createNameResolver } from './names.ts'
import { createOutboundPools } from './pools.ts'
import { SendFailure, send } from './send.ts'

const notAllowed = 'the address of the upstream is not allowed'
// A documentation address: it is allowed like a public address, but no host has it, so no connection is established.
const nowhere = '192.0.2.1'
let names: NameServer
let server: Server
let port: number
let connections: string[]
beforeEach(async () => {
  names = await startNameServer()
  connections = []
  // Listens on every address of this machine.
  server = createServer((_request, response) => response.end('reached'))
  server.on('connection', (socket) => connections.push(socket.localAddress ?? ''))
  await new Promise<void>((resolve) => server.listen(0, resolve))
  ;({ port } = server.address() as AddressInfo)
})
afterEach(async () => {
  await new Promise((resolve) => server.close(resolve))
  await names.close()
})

/** Registers the URL and calls it; returns the response or the reason for the failure. */
async function callBack(url: string, opened: readonly string[] = []): Promise<unknown> {
  const policy = createCallbacksPolicy(opened)
  const parsed = parseCallbackUrl(url, createAddressRules(policy))
  if (parsed === null) return 'not registered'
  const pools = createOutboundPools({
    policy,
    ownServices: [],
    nameResolver: createNameResolver({
      servers: [names.address],
      hostsPath: '/dev/null',
      resolvConfPath: '/dev/null',
      positiveTtlMs: 1,
    }),
    maxPerOrigin: 1,
    maxSockets: 2,
    connectTimeoutMs: 2_000,
  })
  try {
    const { status, headers } = await send({
      pool: pools.getPool('project', parsed.origin),
      path: parsed.pathname + parsed.search,
      method: 'POST',
      headers: [],
      body: Buffer.from('{}'),
      timeoutMs: 60_000,
      maxResponseBytes: 100,
    })
    return [status, headers.location]
  } catch (error) {
    if (error instanceof SendFailure) return [error.phase, error.reason]
    throw error
  } finally {
    await pools.close()
  }
}

describe('a name', () => {
  test.each([
    [['127.0.0.1']],
    [[nowhere, '127.0.0.1']],
    [['127.0.0.1', nowhere]],
    [[nowhere, '2606:4700::1111', '::1']],
    [['::1']],
    [['::ffff:7f00:1']],
    [['64:ff9b::7f00:1']],
    [['2002:7f00:1::1']],
    [['10.0.0.1']],
    [['169.254.169.254']],
    [['fd00:ec2::254']],
    [['0.0.0.0']],
    [['::']],
    [['fe80::1']],
  ])('with the addresses %j is registered, and never connected to', async (addresses) => {
    names.zones.set('backend.example', { addresses })
    expect(await callBack(`http://backend.example:${port}/`)).toEqual(['connect', notAllowed])
    expect(names.questions.length).toBeGreaterThan(0)
    expect(connections).toEqual([])
  })

  test('that stands for one of this machine is judged by the address', async () => {
    names.zones.set('backend.example', { alias: 'localhost', addresses: ['127.0.0.1'] })
    expect(await callBack(`http://backend.example:${port}/`)).toEqual(['connect', notAllowed])
    expect(connections).toEqual([])
  })

  test('that is public when it is judged and of this machine right after leads to what was judged', async () => {
    let answers = 0
    names.zones.set('backend.example', {
      // One lookup queries both address families once.
      get addresses() {
        return ++answers <= 2 ? [nowhere] : ['127.0.0.1', '::1']
      },
    })
    // The result is ignored, because it depends on how the network treats an unused address.
    await callBack(`http://backend.example:${port}/`)
    expect([answers, connections]).toEqual([2, []])
    // The next connection is refused.
    expect(await callBack(`http://backend.example:${port}/`)).toEqual(['connect', notAllowed])
    expect(connections).toEqual([])
  })

  test('in an opened network is connected to', async () => {
    names.zones.set('backend.svc.cluster.local', { addresses: ['127.0.0.1'] })
    const url = `http://backend.svc.cluster.local:${port}/`
    expect(await callBack(url)).toBe('not registered')
    expect(await callBack(url, ['10.0.0.0/8'])).toEqual(['connect', notAllowed])
    expect(connections).toEqual([])
    expect(await callBack(url, ['127.0.0.0/8'])).toEqual([200, undefined])
    expect(connections).toHaveLength(1)
  })
})

describe('a redirect', () => {
  test.each([
    'http://169.254.169.254/latest/meta-data/',
    'http://localhost/',
    'http://127.0.0.2/',
    '//10.0.0.1/',
    '/again',
  ])('to %s is not followed', async (location) => {
    server.removeAllListeners('request')
    let requests = 0
    server.on('request', (_request, response) => {
      requests++
      // Redirects to this machine get the port of this server.
      response.writeHead(302, { location: location.replace(/(?<=\d|localhost)\/$/, `:${port}/`) }).end()
    })
    const answer = await callBack(`http://127.0.0.1:${port}/`, ['127.0.0.1/32'])
    expect(answer).toMatchObject([302, expect.any(String)])
    expect([requests, connections.length]).toEqual([1, 1])
  })
})
