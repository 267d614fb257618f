// These tests cover the response that the caller receives: the upstream response, or the reason why the
// upstream could not be called.
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, BlockList, type Server, createServer, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { testEnv } from '@manager/harness/test-env.ts'
import { redisUrl } from '@manager/harness/run-engines.ts'
import { type Gateway, type Sent, responseTo, startGateway } from '../../../test/kit/gateway.ts'
import { settings } from '../../settings.ts'
import { loadConfig, selectSettings } from '../../config/config.ts'
import { gatewaySettings } from './gateway.settings.ts'

let gateway: Gateway
let path: string
const others: TestApp[] = []
beforeAll(async () => {
  gateway = await startGateway()
  ;({ path } = await gateway.endpoint({ url: gateway.upstream.url }))
})
afterAll(async () => {
  for (const app of others) await app.close()
  await gateway.close()
})
beforeEach(() => gateway.upstream.reset())

/** Starts another process of the service on the same database. */
async function withEnv(env: Record<string, string>): Promise<TestApp> {
  const app = await startTestApp({ database: gateway.service.database, env })
  others.push(app)
  return app
}
/** Makes the upstream write these bytes and close the connection. */
const answerRaw = (bytes: string): void =>
  gateway.upstream.handle((_request, response) => void response.socket?.end(bytes))
const failure = (why: string) => `the call could not be forwarded: ${why}`
/** Returns the status and error message of a call to this URL. */
async function callTo(url: string, sent: Sent = {}) {
  const { status, error } = await gateway.send((await gateway.endpoint({ url })).path, sent)
  return [status, error]
}

describe('what the upstream answers', () => {
  test('[esb.response] every status passes with its body', async () => {
    gateway.upstream.answer((request, response) => {
      const status = Number(request.headers['x-status'])
      response.writeHead(status, { 'x-echo': status }).end(`body of ${status}`)
    })
    const statuses = Array.from({ length: 400 }, (_, i) => 200 + i)
    while (statuses.length > 0)
      await Promise.all(
        statuses.splice(0, 25).map(async (sent) => {
          const { status, headers, text } = await gateway.send(path, {
            headers: [['x-status', String(sent)]],
          })
          const body = sent === 204 || sent === 304 ? '' : `body of ${sent}`
          expect([status, headers['x-echo'], text]).toEqual([sent, String(sent), body])
        }),
      )
  })

  test('[esb.response] redirects are passed back, not followed', async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      const location = `${gateway.upstream.url}/elsewhere?${status}`
      gateway.upstream.answer((_request, response) => response.writeHead(status, { location }).end('moved'))
      for (const method of ['GET', 'POST']) {
        const answer = await gateway.send(path, { method })
        expect([answer.status, answer.headers.location, answer.text]).toEqual([status, location, 'moved'])
      }
    }
    expect(gateway.upstream.received.map(({ url }) => url)).toEqual(Array.from({ length: 10 }, () => '/'))
  })

  test('[esb.response] empty answers pass however they are framed, and interim ones stay out', async () => {
    const heads = {
      length: ['200 OK\r\nContent-Length: 0', 200],
      chunked: ['200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0', 200],
      eof: ['200 OK', 200],
      closing: ['200 OK\r\nConnection: close', 200],
      none: ['204 No Content', 204],
      noneWithLength: ['204 No Content\r\nContent-Length: 0', 204],
      notModified: ['304 Not Modified\r\nETag: "x"\r\nContent-Length: 12', 304],
      interim: ['103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 202 Accepted\r\nContent-Length: 0', 202],
    } as const
    for (const [what, [head, expected]] of Object.entries(heads)) {
      answerRaw(`HTTP/1.1 ${head}\r\n\r\n`)
      const { status, text, headers } = await gateway.send(path)
      expect([what, status, text]).toEqual([what, expected, ''])
      expect([headers.etag, headers.link]).toEqual([expected === 304 ? '"x"' : undefined, undefined])
      expect(expected === 204 && headers['content-length']).toBeFalsy()
    }
  })

  test('[esb.forward-failure] what is no answer gives 502, and is asked for once', async () => {
    const broken = {
      nothing: '',
      garbage: 'garbage\r\n\r\n',
      half: 'HTTP/1.1 200 OK\r\nContent-Le',
      control: 'HTTP/1.1 200 OK\r\nX-A: a\u0001b\r\nContent-Length: 2\r\n\r\nok',
      upgrade: 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
      twoLengths: 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok',
      tooManyHeaders: `HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(20_000)}\r\nContent-Length: 2\r\n\r\nok`,
      noChunk: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
    }
    let asked = 0
    for (const [what, bytes] of Object.entries(broken)) {
      gateway.upstream.handle((_request, response) => {
        asked++
        response.socket?.end(bytes)
      })
      for (const method of ['GET', 'POST']) {
        const { status, error } = await gateway.send(path, { method })
        expect([what, status, error]).toEqual([
          what,
          502,
          expect.stringMatching(/^the call could not be forwarded: the /),
        ])
      }
    }
    expect(asked).toBe(2 * Object.keys(broken).length)
    gateway.upstream.handle(null)
    expect((await gateway.send(path)).status).toBe(200)
  })

  test('[esb.forward-failure] an answer that ends before its end is cut for the caller too', async () => {
    // The last response ends when its connection closes, but a reset connection is not a valid end.
    for (const head of [
      'Content-Length: 9\r\n\r\npart',
      'Transfer-Encoding: chunked\r\n\r\n4\r\npart\r\n',
      '\r\npart',
    ]) {
      const begun = Promise.withResolvers<void>()
      gateway.upstream.handle((_request, { socket }) => {
        socket?.write(`HTTP/1.1 200 OK\r\n${head}`)
        void begun.promise.finally(() => socket?.resetAndDestroy())
      })
      const outgoing = gateway.open(path)
      outgoing.once('response', (response) => response.once('data', () => begun.resolve()))
      const answer = responseTo(outgoing)
      outgoing.end()
      await expect(answer).rejects.toThrow('aborted')
    }
  })
})

describe('when the upstream cannot be asked', () => {
  test('[esb.forward-failure] the reason is told in words, without the address', async () => {
    const refuses = failure('the upstream refuses connections')
    expect(await callTo('http://127.0.0.1:1/secret-path')).toEqual([502, refuses])
    expect(await callTo('http://localhost:1/', { method: 'POST', body: 'x' })).toEqual([502, refuses])
    expect(await callTo('http://nowhere.invalid/')).toEqual([
      502,
      failure('the name of the upstream cannot be resolved'),
    ])
    const noTls = failure('the upstream does not use TLS on this port; use http:// or another port')
    expect(await callTo(gateway.upstream.url.replace('http:', 'https:'))).toEqual([502, noTls])
    expect(gateway.upstream.received).toEqual([])
  })

  test('[esb.forward-limits] an upstream that does not answer in time gives 502', async () => {
    const hasty = await withEnv({ SVC_ESB_FORWARD_TIMEOUT: '300ms' })
    const config = loadConfig({ env: testEnv(gateway.service.database.url) }, settings)
    expect(selectSettings(config, gatewaySettings).esbForwardTimeoutMs).toBe(30_000)
    const closed = Promise.withResolvers<void>()
    gateway.upstream.handle((request) => void request.once('close', () => closed.resolve()))
    const { status, error } = await gateway.send(path, { method: 'POST', body: 'x', to: hasty })
    expect([status, error]).toEqual([502, failure('the upstream timed out')])
    // The upstream does not have to finish, because the caller has already received a response.
    await closed.promise
    // A response that has started is truncated.
    gateway.upstream.handle((_request, response) => void response.writeHead(200).write('part'))
    const outcome = () =>
      gateway.send(path, { to: hasty }).then(
        () => 'whole or late',
        (error: unknown) => (error as Error).message,
      )
    await expect.poll(outcome).toBe('aborted')
    gateway.upstream.handle(null)
    await expect.poll(async () => (await gateway.send(path, { to: hasty })).status).toBe(200)
  })

  test('so many calls go to one origin at once; further ones are told to come back, and other origins are not held up', async () => {
    const crowded = await withEnv({ SVC_ESB_MAX_CALLS_PER_ORIGIN: '2' })
    const { path: elsewhere } = await gateway.endpoint({ url: `http://localhost:${gateway.upstream.port}/` })
    const release = Promise.withResolvers<void>()
    let waiting = 0
    const bothWait = Promise.withResolvers<void>()
    gateway.upstream.handle((request, response) => {
      if (request.headers.host?.startsWith('localhost') === true) return void response.end('other')
      if (++waiting === 2) bothWait.resolve()
      void release.promise.finally(() => response.end('late'))
    })
    const first = [gateway.send(path, { to: crowded }), gateway.send(path, { to: crowded })]
    await bothWait.promise
    const { status, headers, error } = await gateway.send(path, { to: crowded })
    expect([status, headers['retry-after'], error]).toEqual([
      503,
      '1',
      'too many calls to this endpoint are in flight; try again',
    ])
    expect((await gateway.send(elsewhere, { to: crowded })).text).toBe('other')
    release.resolve()
    expect((await Promise.all(first)).map(({ text }) => text)).toEqual(['late', 'late'])
    // Completed and failed calls both release their slot.
    for (let i = 0; i < 3; i++) expect((await gateway.send(path, { to: crowded })).status).toBe(200)
    answerRaw('')
    for (let i = 0; i < 3; i++) expect((await gateway.send(path, { to: crowded })).status).toBe(502)
    gateway.upstream.handle(null)
    expect((await gateway.send(path, { to: crowded })).status).toBe(200)
  })
})

const privateNetworks = new BlockList()
privateNetworks.addSubnet('10.0.0.0', 8)
privateNetworks.addSubnet('172.16.0.0', 12)
privateNetworks.addSubnet('192.168.0.0', 16)
privateNetworks.addSubnet('fc00::', 7, 'ipv6')
const privateAddresses = (): string[] =>
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ address, family }) => privateNetworks.check(address, family === 'IPv6' ? 'ipv6' : 'ipv4'))
    .map(({ address }) => address)

describe('where calls may go', () => {
  const notAllowed = [502, failure('the address of the upstream is not allowed')]
  /** Counts the connections to the upstream. */
  let listener: { server: Server; port: number; connections: number }
  beforeAll(async () => {
    listener = {
      server: createServer((socket) => socket.end(void listener.connections++)),
      port: 0,
      connections: 0,
    }
    await new Promise<void>((resolve) => listener.server.listen(0, '127.0.0.1', resolve))
    listener.port = (listener.server.address() as AddressInfo).port
  })
  afterAll(() => void listener.server.close())

  test('[esb.egress-metadata] link-local and metadata addresses are refused in every spelling', async () => {
    for (const host of [
      '169.254.169.254',
      '169.254.1.1',
      '2852039166',
      '0xa9.0xfe.0xa9.0xfe',
      '[::ffff:169.254.169.254]',
      '[64:ff9b::a9fe:a9fe]',
      '[fe80::1]',
      '[fd00:ec2::254]',
      '100.100.100.200',
      '0.0.0.0',
    ])
      expect([host, await callTo(`http://${host}/latest/meta-data/`)]).toEqual([host, notAllowed])
  })

  test('[esb.egress-metadata] private addresses are called', async () => {
    const addresses = privateAddresses()
    // Loopback addresses do not count as private, so the test needs a machine with an address in a private
    // network.
    expect(addresses).not.toEqual([])
    for (const address of addresses) {
      const received: string[] = []
      const server = createHttpServer((request, response) => {
        received.push(request.socket.localAddress as string)
        response.end('reached')
      })
      await new Promise<void>((resolve) => server.listen(0, address, resolve))
      const host = isIPv6(address) ? `[${address}]` : address
      const { port } = server.address() as AddressInfo
      const { path: at } = await gateway.endpoint({ url: `http://${host}:${port}/` })
      const { status, text } = await gateway.send(at)
      expect([address, status, text, received]).toEqual([address, 200, 'reached', [address]])
      await new Promise((resolve) => server.close(resolve).closeAllConnections())
    }
  })

  test('[esb.egress-cidrs] denied networks are refused, and so is what is not allowed where something is; nothing connects', async () => {
    const url = `http://127.0.0.1:${listener.port}/`
    const { path: at } = await gateway.endpoint({ url })
    const statusWith = async (env: Record<string, string>) => {
      const { status, error } = await gateway.send(at, { to: await withEnv(env) })
      return [status, error]
    }
    const loopback = '127.0.0.0/8'
    const one = '127.0.0.1/32'
    expect(await statusWith({ SVC_ESB_DENIED_CIDRS: `10.0.0.0/8,${loopback}` })).toEqual(notAllowed)
    expect(await statusWith({ SVC_ESB_ALLOWED_CIDRS: '10.0.0.0/8' })).toEqual(notAllowed)
    expect(await statusWith({ SVC_ESB_ALLOWED_CIDRS: loopback, SVC_ESB_DENIED_CIDRS: one })).toEqual(
      notAllowed,
    )
    expect(listener.connections).toBe(0)
    const allowed = { SVC_ESB_ALLOWED_CIDRS: `10.0.0.0/8,${loopback}`, SVC_ESB_DENIED_CIDRS: '127.0.0.2/32' }
    expect(await statusWith(allowed)).toEqual([
      502,
      failure('the upstream response is incomplete or invalid'),
    ])
    expect(listener.connections).toBe(1)
  })

  test('[esb.egress-cidrs] the services this one is built on are refused, whatever is allowed', async () => {
    const database = new URL(gateway.service.database.url).port || '5432'
    const redis = new URL(redisUrl()).port || '6379'
    const open = await withEnv({ SVC_ESB_ALLOWED_CIDRS: '127.0.0.0/8,::1/128' })
    for (const port of [database, redis, String(gateway.service.config.healthPort)])
      for (const host of ['127.0.0.1', 'localhost', '127.0.0.2', '[::ffff:127.0.0.1]'])
        for (const to of [gateway.service, open])
          expect([port, host, await callTo(`http://${host}:${port}/`, { to })]).toEqual([
            port,
            host,
            notAllowed,
          ])
  })

  test.each([
    ['bucket', (url: string) => ({ SVC_PILETS_S3_ENDPOINT: url })],
    ['bucket of checkpoints', (url: string) => ({ SVC_AUDIT_CHECKPOINT_S3_ENDPOINT: url })],
    ['trace collector', (url: string) => ({ SVC_TRACING_OTLP_ENDPOINT: url })],
    [
      'Kubernetes API server',
      (url: string) => ({
        SVC_ROLES: 'gateway',
        SVC_ORCHESTRATOR_KIND: 'kubernetes',
        SVC_ORCHESTRATOR_API_SERVER: url.replace('http:', 'https:'),
      }),
    ],
  ])(
    '[esb.egress-cidrs] the %s of the installation is refused, whatever is allowed',
    async (_what, envOf) => {
      const url = `http://127.0.0.1:${listener.port}`
      const to = await withEnv({ SVC_ESB_ALLOWED_CIDRS: '127.0.0.0/8,::1/128', ...envOf(url) })
      expect(await callTo(url)).not.toEqual(notAllowed)
      for (const host of ['127.0.0.1', 'localhost', '127.0.0.2', '[::ffff:127.0.0.1]'])
        expect([host, await callTo(`http://${host}:${listener.port}/`, { to })]).toEqual([host, notAllowed])
    },
  )
})
