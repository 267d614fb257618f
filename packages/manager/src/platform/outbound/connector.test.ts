import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { type RequestListener, createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { networkInterfaces } from 'node:os'
import { type buildConnector, Client } from 'undici'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { EgressRefusedError, createGuardedConnector, createTrustStore } from './connector.ts'
import { gatewayPolicy } from './egress-policies.ts'
import { type Egress, type EgressOptions, createEgress } from './egress.ts'
import { type Lookup, createNameResolver } from './names.ts'
import { createCertificate } from '@manager/harness/certificates.ts'

const ofThisMachine = createNameResolver().createLookup('tests')
type Lists = Partial<Parameters<typeof gatewayPolicy>[0]>
const policyWith = (lists: Lists = {}) => gatewayPolicy({ esbAllowedCidrs: [], esbDeniedCidrs: [], ...lists })
const open: EgressOptions = { policy: policyWith(), ownServices: [], lookup: ofThisMachine }
const interfaces = Object.values(networkInterfaces()).flatMap((own) => own ?? [])
const hasIPv6 = interfaces.some(({ address }) => address === '::1')

const answer: RequestListener = (request, response) => {
  response.end(`hello ${request.headers.host}`)
}
const servers: Server[] = []
let connections = 0

/** Starts the server on this machine, counts its connections and returns its port. */
async function listen(server: Server, host = '127.0.0.1'): Promise<number> {
  servers.push(server.on('connection', () => connections++))
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  return (server.address() as AddressInfo).port
}
beforeEach(() => {
  connections = 0
})
afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve))
})

/** A resolver that returns the lists one after another, repeats the last list, and records its calls. */
function resolver(...lists: string[][]): Lookup & { calls: string[] } {
  const calls: string[] = []
  const lookup: Lookup = (host) => {
    const list = lists[Math.min(calls.push(host), lists.length) - 1] ?? []
    return Promise.resolve(list.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })))
  }
  return Object.assign(lookup, { calls })
}

type Options = { egress?: Egress; lookup?: Lookup; ca?: string[]; connectTimeoutMs?: number }
const connectorOf = ({ ca, ...options }: Options) =>
  createGuardedConnector({
    egress: createEgress(open),
    connectTimeoutMs: 5_000,
    lookup: ofThisMachine,
    trust: createTrustStore(ca),
    ...options,
  })

/** Calls on a new connection and returns the body. */
async function callBy(
  connect: buildConnector.connector,
  origin: string,
  headers: Record<string, string> = {},
): Promise<string> {
  const client = new Client(origin, { connect })
  try {
    const { body } = await client.request({ path: '/', method: 'GET', headers })
    return await body.text()
  } finally {
    await client.destroy()
  }
}
const call = (origin: string, options: Options = {}, headers?: Record<string, string>): Promise<string> =>
  callBy(connectorOf(options), origin, headers)

/** Returns the error of the connector for a host that no URL parser has normalized. */
const failureOf = (hostname: string, options: Options = {}): Promise<Error | null> =>
  new Promise((resolve) => {
    connectorOf(options)({ hostname, protocol: 'http:', port: '9' }, (error, socket) => {
      socket?.destroy()
      resolve(error)
    })
  })

describe('a name', () => {
  test('is looked up once, and its address is called', async () => {
    const port = await listen(createServer(answer))
    const lookup = resolver(['127.0.0.1'], ['169.254.169.254'])
    expect(await call(`http://backend.example:${port}`, { lookup })).toBe(`hello backend.example:${port}`)
    expect(lookup.calls).toEqual(['backend.example'])
  })

  test('is judged by the resolver of the machine when there is no other', async () => {
    const port = await listen(createServer(answer))
    expect(await call(`http://localhost:${port}`)).toBe(`hello localhost:${port}`)
    const egress = createEgress({
      ...open,
      policy: policyWith({ esbDeniedCidrs: ['127.0.0.0/8', '::1/128'] }),
    })
    await expect(call(`http://localhost:${port}`, { egress })).rejects.toThrow(EgressRefusedError)
    expect(connections).toBe(1)
  })

  test('that turns to a refused address is refused at the next connection', async () => {
    const port = await listen(createServer(answer))
    const connect = connectorOf({ lookup: resolver(['127.0.0.1'], ['169.254.169.254'], ['127.0.0.1']) })
    const origin = `http://backend.example:${port}`
    expect(await callBy(connect, origin)).toContain('hello')
    await expect(callBy(connect, origin)).rejects.toThrow(
      'calls to backend.example are not allowed: its address 169.254.169.254 is a metadata service',
    )
    expect(await callBy(connect, origin)).toContain('hello')
    expect(connections).toBe(2)
  })

  test.each([
    [['127.0.0.1', '169.254.169.254']],
    [['169.254.169.254', '127.0.0.1']],
    [['127.0.0.1', '127.0.0.1', 'fd00:ec2::254']],
    [['127.0.0.1', '0.0.0.0']],
    [['127.0.0.1', '::ffff:169.254.1.1']],
    [['fe80::1%lo']],
    [['fd00:ec2::254']],
    [['64:ff9b::a9fe:a9fe']],
    [['127.0.0.1', 'nonsense']],
  ])('with the addresses %j is refused whole', async (addresses) => {
    const port = await listen(createServer(answer))
    for (const scheme of ['http', 'https'])
      await expect(
        call(`${scheme}://backend.example:${port}`, { lookup: resolver(addresses) }),
      ).rejects.toThrow(EgressRefusedError)
    expect(connections).toBe(0)
  })

  test.skipIf(!hasIPv6)('with IPv6 addresses only is called there', async () => {
    const port = await listen(createServer(answer), '::1')
    expect(await call(`http://backend.example:${port}`, { lookup: resolver(['::1']) })).toContain('hello')
  })

  test('is called at another of its addresses when the first does not answer', async () => {
    const port = await listen(createServer(answer))
    const lookup = resolver(['::1', '127.0.0.1'])
    expect(await call(`http://backend.example:${port}`, { lookup })).toContain('hello')
  })

  test('that does not resolve is a failure like any other', async () => {
    const unknown = (): Promise<never> =>
      Promise.reject(Object.assign(new Error('unknown'), { code: 'ENOTFOUND' }))
    for (const lookup of [unknown, resolver([])]) {
      const error = await call('http://backend.example', { lookup }).catch((caught: unknown) => caught)
      expect(error).toMatchObject({ code: 'ENOTFOUND' })
      expect(error).not.toBeInstanceOf(EgressRefusedError)
    }
  })

  test('whose lookup hangs ends with the connect timeout', async () => {
    const lookup = (): Promise<never> => new Promise(() => undefined)
    await expect(call('http://backend.example', { lookup, connectTimeoutMs: 10 })).rejects.toMatchObject({
      code: 'UND_ERR_CONNECT_TIMEOUT',
      message: expect.stringContaining('timeout: 10ms') as string,
    })
  })
})

describe('a literal', () => {
  let sockets = 0
  // Counts only the connections of the test, not other connections of the process.
  const ofTest = new AsyncLocalStorage<true>()
  const count = (): void => void (sockets += ofTest.getStore() === true ? 1 : 0)
  const within = <Result>(work: () => Result): Result => ofTest.run(true, work)
  beforeEach(() => {
    sockets = 0
    subscribe('net.client.socket', count)
  })
  afterEach(() => void unsubscribe('net.client.socket', count))

  test.each([
    '169.254.169.254',
    '2852039166',
    '0xa9fea9fe',
    '0251.0376.0251.0376',
    '169.254.43518',
    '169.254.169.254.',
    '①⑥⑨.254.169.254',
    '[::ffff:169.254.169.254]',
    '[::ffff:a9fe:a9fe]',
    '[::a9fe:a9fe]',
    '[::ffff:0:169.254.169.254]',
    '[64:ff9b::169.254.169.254]',
    '[2002:a9fe:a9fe::1]',
    '[2001:0:a9fe:a9fe::]',
    '[2a00::5efe:169.254.169.254]',
    '[fd00:ec2::254]',
    '[fe80::1]',
    '[ff02::1]',
    '100.100.100.200',
    '168.63.129.16',
    '0',
    '0.0.0.0',
    '[::]',
  ])('%s is refused without an attempt', async (host) => {
    const lookup = resolver(['127.0.0.1'])
    for (const scheme of ['http', 'https'])
      await expect(within(() => call(`${scheme}://${host}:9`, { lookup }))).rejects.toThrow(
        EgressRefusedError,
      )
    expect([sockets, lookup.calls]).toEqual([0, []])
  })

  test.each([
    '[169.254.169.254]',
    '169.254.169.254.',
    '[::ffff:a9fe:a9fe].',
    'fe80::1%lo',
    '::FFFF:A9FE:A9FE',
  ])('%s that no URL has cleaned is refused all the same', async (host) => {
    expect(await within(() => failureOf(host))).toBeInstanceOf(EgressRefusedError)
    expect(sockets).toBe(0)
  })

  test.each(['127.0.0.1', '2130706433', '0x7f.1', '127.0.0.1.'])(
    '%s of this machine is called',
    async (host) => {
      const port = await listen(createServer(answer))
      expect(await within(() => call(`http://${host}:${port}`))).toContain('hello')
      expect(sockets).toBe(1)
    },
  )

  test.skipIf(!hasIPv6)('of this machine in IPv6 is called', async () => {
    const port = await listen(createServer(answer), '::')
    for (const host of ['[::1]', '[::ffff:127.0.0.1]'])
      expect(await within(() => call(`http://${host}:${port}`))).toContain('hello')
    expect(sockets).toBe(2)
  })

  test('is refused with a message of host and reason alone', async () => {
    const error = await call('http://someone:hunter2@169.254.169.254/').catch((caught: unknown) => caught)
    expect(error).toMatchObject({ name: 'EgressRefusedError', host: '169.254.169.254' })
    expect(String(error)).toBe(
      'EgressRefusedError: calls to 169.254.169.254 are not allowed: it is a metadata service',
    )
  })
})

describe('the policy', () => {
  const spellings = [
    '127.0.0.1',
    'localhost',
    '127.1',
    '[::ffff:127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '127.0.0.2',
  ]

  test.each(spellings)('refuses %s in a denied network', async (host) => {
    const port = await listen(createServer(answer))
    const egress = createEgress({
      ...open,
      policy: policyWith({ esbDeniedCidrs: ['127.0.0.0/8', '::1/128'] }),
    })
    await expect(call(`http://${host}:${port}`, { egress })).rejects.toThrow('is in a denied network')
    expect(connections).toBe(0)
  })

  test('calls nothing outside the allowed networks', async () => {
    const port = await listen(createServer(answer))
    const within = createEgress({ ...open, policy: policyWith({ esbAllowedCidrs: ['127.0.0.0/8'] }) })
    expect(await call(`http://127.0.0.1:${port}`, { egress: within })).toContain('hello')
    const outside = createEgress({ ...open, policy: policyWith({ esbAllowedCidrs: ['10.0.0.0/8'] }) })
    for (const host of spellings)
      await expect(call(`http://${host}:${port}`, { egress: outside })).rejects.toThrow(
        'is outside the allowed',
      )
    expect(connections).toBe(1)
  })

  test.each(['127.0.0.1', 'localhost', '::1', '[::1]', '0.0.0.0'])(
    'refuses a service of our own that is at %s, at its port only',
    async (host) => {
      const [own, other] = [await listen(createServer(answer)), await listen(createServer(answer))]
      const egress = createEgress({ ...open, ownServices: [{ host, port: own }] })
      for (const target of [...spellings, '[::1]', '[::127.0.0.1]'])
        await expect(call(`http://${target}:${own}`, { egress })).rejects.toThrow(
          'is an internal service of the Manager',
        )
      expect(connections).toBe(0)
      expect(await call(`http://127.0.0.1:${other}`, { egress })).toContain('hello')
    },
  )

  test('tells the ports of one name apart', async () => {
    const [own, other] = [await listen(createServer(answer)), await listen(createServer(answer))]
    const egress = createEgress({ ...open, ownServices: [{ host: '127.0.0.1', port: own }] })
    const connect = connectorOf({ egress, lookup: resolver(['127.0.0.1']) })
    expect(await callBy(connect, `http://backend.example:${other}`)).toContain('hello')
    await expect(callBy(connect, `http://backend.example:${own}`)).rejects.toThrow(
      'its address 127.0.0.1 is an internal service of the Manager',
    )
    expect(await callBy(connect, `http://backend.example:${other}`)).toContain('hello')
  })

  test('refuses the default ports of the schemes by their numbers', async () => {
    for (const [scheme, port] of [
      ['http', 80],
      ['https', 443],
    ] as const) {
      const egress = createEgress({ ...open, ownServices: [{ host: '127.0.0.1', port }] })
      await expect(call(`${scheme}://127.0.0.1`, { egress })).rejects.toThrow(
        'is an internal service of the Manager',
      )
    }
  })

  test('cuts a connection that led elsewhere before a byte is sent', async () => {
    let received = 0
    const server = createServer(answer).on('connection', (socket) => socket.on('data', () => received++))
    const port = await listen(server)
    // Simulates a kernel that connects to an address other than the checked one.
    const egress: Egress = { findProblem: () => Promise.resolve(null), findAddressProblem: () => 'elsewhere' }
    await expect(call(`http://127.0.0.1:${port}`, { egress })).rejects.toThrow(
      'calls to 127.0.0.1 are not allowed: the connected address is elsewhere',
    )
    await new Promise((resolve) => server.close(resolve))
    expect([connections, received]).toEqual([1, 0])
  })
})

describe('TLS', () => {
  const authority = createCertificate('authority', [])
  const trusted = createCertificate('backend', ['backend.example', '127.0.0.1'], { issuer: authority })
  const lookup = resolver(['127.0.0.1'])
  const ca = [authority.cert]

  test('is refused with a certificate that signs itself', async () => {
    const port = await listen(createTlsServer(createCertificate('alone', ['backend.example']), answer))
    for (const options of [{ lookup }, { lookup, ca }])
      await expect(call(`https://backend.example:${port}`, options)).rejects.toMatchObject({
        code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
      })
  })

  test('is accepted from an authority that is trusted, and from no other', async () => {
    const port = await listen(createTlsServer(trusted, answer))
    expect(await call(`https://backend.example:${port}`, { lookup, ca })).toContain('hello')
    expect(await call(`https://backend.example.:${port}`, { lookup, ca })).toContain('hello')
    expect(await call(`https://127.0.0.1:${port}`, { ca })).toContain('hello')
    const others = [createCertificate('authority', []).cert]
    for (const options of [{ lookup }, { lookup, ca: others }])
      await expect(call(`https://backend.example:${port}`, options)).rejects.toThrow(/certificate/)
  })

  test('is refused for another name, whatever the Host header says', async () => {
    const port = await listen(createTlsServer(trusted, answer))
    for (const host of ['other.example', 'localhost'])
      for (const headers of [undefined, { host: 'backend.example' }])
        await expect(call(`https://${host}:${port}`, { lookup, ca }, headers)).rejects.toMatchObject({
          code: 'ERR_TLS_CERT_ALTNAME_INVALID',
        })
    const headers = { host: 'other.example' }
    expect(await call(`https://backend.example:${port}`, { lookup, ca }, headers)).toBe('hello other.example')
  })
})
