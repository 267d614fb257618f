// Tests that a directory that is stopped, hangs or sends garbage fails only its own requests, in limited time.
import { type AddressInfo, type Server, type Socket, createServer } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '@manager/harness/engines/postgres.ts'
import { type Slapd, startSlapd } from '@manager/harness/engines/slapd.ts'
import { lineCollector } from '../../../test/kit/app.ts'
import { createTestDirectory, ldapOptions, personId, toLdif } from '../../../test/kit/ldap.ts'
import { createLog } from '../log/log.ts'
import { createMetrics } from '../metrics.ts'
import type { LdapOptions } from './ldap-directory.ts'

let slapd: Slapd
const logLines: Record<string, unknown>[] = []
const metrics = createMetrics('test')
const unavailable = { code: 'unavailable', message: 'the user directory is not available; try again' }
const short = { connectTimeoutMs: 100, requestTimeoutMs: 200 }

beforeAll(async () => {
  slapd = await startSlapd({ ldif: toLdif({ id: personId(1), uid: 'ann', cn: 'Ann Archer' }) })
})
afterAll(() => slapd.close())

const createDirectory = (changes: Partial<LdapOptions>) => {
  logLines.length = 0
  metrics.registry.clear()
  const log = createLog('info', lineCollector(logLines))
  return createTestDirectory(ldapOptions(slapd, changes), { log, metrics })
}
const listReasons = () => logLines.map(({ reason }) => reason)

const fakes: { server: Server; sockets: Set<Socket> }[] = []
afterEach(async () => {
  for (const { server, sockets } of fakes.splice(0)) {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  }
})

/** Starts a server that handles each connection with `serve`. */
async function startFake(serve: (socket: Socket) => void) {
  const sockets = new Set<Socket>()
  const counts = { connections: 0 }
  const server = createServer((socket) => {
    counts.connections++
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.resume()
    serve(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  fakes.push({ server, sockets })
  return { url: `ldap://127.0.0.1:${(server.address() as AddressInfo).port}`, counts }
}

const bindResponse = (id: number) => Buffer.from([0x30, 12, 2, 1, id, 0x61, 7, 10, 1, 0, 4, 0, 4, 0])

describe('a directory that is stopped', () => {
  test('fails the search with 503, and serves it after the start', async () => {
    const { search, namesOf } = createDirectory({})
    await slapd.stop()
    for (let n = 0; n < 3; n++) await expect(search('archer')).rejects.toMatchObject(unavailable)
    expect(listReasons()).toEqual(['connecting failed (ECONNREFUSED)'])
    await slapd.start()
    expect(await namesOf('archer')).toEqual(['Ann Archer'])
  })

  test('is replaced by the next server, and not tried again for a while', async () => {
    const { url, counts } = await startFake((socket) => socket.destroy())
    const stopped = `ldap://127.0.0.1:${await freePort()}`
    const { namesOf } = createDirectory({ urls: [stopped, url, slapd.url] })
    for (let n = 0; n < 3; n++) expect(await namesOf('archer')).toEqual(['Ann Archer'])
    expect(counts.connections).toBe(1)
    expect(logLines).toHaveLength(2)
  })
})

describe('a directory that hangs', () => {
  test('fails the search when its time is over', async () => {
    const { search } = createDirectory(short)
    const patient = createDirectory({})
    await slapd.suspend()
    try {
      await expect(search('archer')).rejects.toMatchObject({ ...unavailable, retryAfterSeconds: 5 })
    } finally {
      slapd.resume()
    }
    expect(await patient.namesOf('archer')).toEqual(['Ann Archer'])
  })

  test('is replaced by the next server', async () => {
    const { url, counts } = await startFake(() => undefined)
    const { namesOf } = createDirectory({ urls: [url, slapd.url], connectTimeoutMs: 1_500 })
    // On a very slow machine, the next server can time out too.
    await expect.poll(() => namesOf('archer').catch(() => null)).toEqual(['Ann Archer'])
    expect(counts.connections).toBeGreaterThan(0)
    expect(listReasons()[0]).toBe('authentication timed out')
  })

  test('during the TLS handshake, StartTLS or the search fails in time too', async () => {
    const { url } = await startFake(() => undefined)
    const encryption = { startTls: false, caFile: null }
    const tls = createDirectory({ ...short, urls: [url.replace('ldap:', 'ldaps:')], encryption })
    await expect(tls.search('archer')).rejects.toMatchObject(unavailable)
    expect(listReasons()).toEqual(['connecting timed out'])
    const startTls = createDirectory({ ...short, urls: [url], encryption: { ...encryption, startTls: true } })
    await expect(startTls.search('archer')).rejects.toMatchObject(unavailable)
    expect(listReasons()).toEqual(['connecting timed out'])
    const bound = await startFake((socket) => socket.once('data', () => socket.write(bindResponse(2))))
    const { search } = createDirectory({
      urls: [bound.url],
      requestTimeoutMs: 1_500,
      connectTimeoutMs: 1_000,
    })
    await expect(search('archer')).rejects.toMatchObject(unavailable)
    expect(listReasons()).toEqual([expect.stringMatching(/^(?:the search|authentication) timed out$/)])
  })

  test('delays only a limited number of requests; the others fail immediately', async () => {
    const { url, counts } = await startFake(() => undefined)
    const { search } = createDirectory({
      urls: [url],
      maxConcurrent: 2,
      connectTimeoutMs: 500,
      requestTimeoutMs: 500,
    })
    const results = await Promise.allSettled(
      Array.from({ length: 40 }, (_, n) => search('archer', {}, `user ${n}`)),
    )
    const errors = results.map((one) => (one.status === 'rejected' ? (one.reason as Error) : null))
    for (const error of errors) expect(error).toMatchObject({ code: 'unavailable' })
    const busy = errors.filter((error) => error?.message === 'the user directory is busy; try again')
    expect(busy.length).toBeGreaterThanOrEqual(40 - 2 - 16)
    // Requests that wait may connect when their turn comes at the very end of their time.
    expect(counts.connections).toBeLessThanOrEqual(2 + 16)
    expect(await metrics.registry.metrics()).toContain(
      `svc_directory_request_duration_seconds_count{outcome="refused"} ${busy.length}\n`,
    )
  })
})

describe('a directory that sends garbage', () => {
  const loop = Buffer.from('300d02010264080401613003300400', 'hex')
  const entry = Buffer.from([0x30, 12, 2, 1, 3, 0x64, 7, 4, 1, 97, 0x30, 2, 4, 0])
  test.each([
    [
      'text of another protocol',
      Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'),
      'the server sent an invalid message',
    ],
    ['zeros', Buffer.alloc(100_000), 'the server sent an invalid message'],
    ['a damaged message', loop, 'the server sent an invalid message'],
    ['a damaged entry', entry, 'the server sent an invalid message'],
    [
      'a message that is too long',
      Buffer.from([0x30, 0x84, 0x7f, 0xff, 0xff, 0xff]),
      'the server sent a message that is too long',
    ],
    [
      'too many messages',
      Buffer.concat(Array(5_000).fill(bindResponse(99))),
      'the server sent too many messages',
    ],
    ['nothing, and closes the connection', null, 'the server closed the connection'],
  ])('fails the search: %s', async (_name, bytes, reason) => {
    const { url } = await startFake((socket) => {
      if (bytes === null) socket.end()
      else socket.write(bytes)
    })
    const { search } = createDirectory({ urls: [url] })
    await expect(search('archer')).rejects.toMatchObject(unavailable)
    expect(listReasons()).toEqual([reason])
  })

  test('before the encryption starts fails the search', async () => {
    const accepted = Buffer.from([0x30, 12, 2, 1, 1, 0x78, 7, 10, 1, 0, 4, 0, 4, 0])
    const { url } = await startFake((socket) =>
      socket.once('data', () => socket.write(Buffer.concat([accepted, bindResponse(2)]))),
    )
    const { search } = createDirectory({ urls: [url], encryption: { startTls: true, caFile: null } })
    await expect(search('archer')).rejects.toMatchObject(unavailable)
    expect(listReasons()).toEqual(['the server sent too many messages'])
  })
})
