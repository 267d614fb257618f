// These tests cover bodies in both directions: every method, exact bytes, streaming and size limits.
import { createHash, randomBytes } from 'node:crypto'
import { type ClientRequest, METHODS } from 'node:http'
import type { Readable } from 'node:stream'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { TestApp } from '../../../test/kit/app.ts'
import {
  type Gateway,
  type HeaderLine,
  responseTo,
  startGateway,
  startSized,
} from '../../../test/kit/gateway.ts'

const tightBytes = 2_048
const tightAnswerBytes = 3_072
const mebibyte = 1_048_576

let gateway: Gateway
let tight: TestApp
let roomy: TestApp
let path: string
/** Path of an endpoint whose template forwards the body. */
let rendered: string
beforeAll(async () => {
  gateway = await startGateway()
  tight = await startSized(gateway, tightBytes, tightAnswerBytes)
  roomy = await startSized(gateway, 1_024 * mebibyte, 1_024 * mebibyte)
  ;({ path } = await gateway.endpoint({ url: gateway.upstream.url }))
  const template = { transformationTemplate: '{{.Data.Body}}' }
  ;({ path: rendered } = await gateway.endpoint({ url: gateway.upstream.url, ...template }))
})
afterAll(async () => {
  await tight.close()
  await roomy.close()
  await gateway.close()
})
beforeEach(() => gateway.upstream.reset())

const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
const received = () => gateway.upstream.received.at(-1)
/** The caller does not request the connection to be closed. */
const kept: HeaderLine[] = [['connection', 'keep-alive']]
const firstData = (stream: Readable): Promise<string> =>
  new Promise((resolve) => stream.once('data', (chunk: Buffer) => resolve(chunk.toString())))
/** Returns the first part of the response. */
const firstPart = (outgoing: ClientRequest): Promise<string> =>
  new Promise((resolve) => outgoing.once('response', (answer) => resolve(firstData(answer))))

describe('methods', () => {
  test('[esb.route] every method reaches the upstream as itself, with and without a body', async () => {
    for (const method of METHODS.filter((one) => one !== 'CONNECT'))
      for (const sent of [{}, { body: '' }, { body: 'a body' }, { body: 'a body', isChunked: true }]) {
        const { status, text } = await gateway.send(path, { method, ...sent })
        const answer = method === 'HEAD' ? '' : '{"accepted":true}'
        expect([method, sent, status, text]).toEqual([method, sent, 200, answer])
        expect([received()?.method, received()?.body.toString()]).toEqual([method, sent.body ?? ''])
      }
  })

  test('[esb.response] HEAD is answered with the headers of a body and without it', async () => {
    gateway.upstream.answer((_request, response) => {
      response.writeHead(200, { 'content-length': 12_345, etag: '"x"' }).end()
    })
    const { status, headers, text } = await gateway.send(path, { method: 'HEAD', to: tight })
    expect([status, text, headers['content-length'], headers.etag]).toEqual([200, '', '12345', '"x"'])
  })
})

describe('what passes', () => {
  test('[esb.body-unchanged] [esb.response] bodies arrive byte for byte in both directions, whatever their length', async () => {
    gateway.upstream.answer((request, response, body) => {
      response.writeHead(
        200,
        request.headers['x-length'] === undefined ? {} : { 'content-length': body.length },
      )
      response.end(body)
    })
    for (const size of [1, 1_024, 65_535, 65_536, 65_537, mebibyte])
      for (const isChunked of [false, true]) {
        const body = randomBytes(size)
        const headers: HeaderLine[] = isChunked ? [] : [['x-length', '1']]
        const answer = await gateway.send(path, { method: 'PUT', body, isChunked, headers })
        expect([size, answer.status, answer.body.length]).toEqual([size, 200, size])
        expect(digest(received()?.body ?? Buffer.alloc(0))).toBe(digest(body))
        expect(digest(answer.body)).toBe(digest(body))
        const lengths = [received()?.headers['content-length'], answer.headers['content-length']]
        expect(isChunked ? [] : lengths).toEqual(isChunked ? [] : [String(size), String(size)])
      }
  })

  test('[esb.body-unchanged] an encoded body is not decoded', async () => {
    const body = Buffer.from('1f8b0800000000000003cb48cdc9c907008610a63605000000', 'hex')
    gateway.upstream.answer((_request, response, sent) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(sent)
    })
    const answer = await gateway.send(path, { method: 'POST', body, headers: [['content-encoding', 'gzip']] })
    expect(received()).toMatchObject({ body, headers: { 'content-encoding': 'gzip' } })
    expect([answer.body, answer.headers['content-encoding']]).toEqual([body, 'gzip'])
  })

  test('[esb.body-unchanged] the upstream has the first part of a body before the caller sends the second', async () => {
    for (const framing of [
      ['transfer-encoding', 'chunked'],
      ['content-length', '11'],
    ] as HeaderLine[]) {
      const first = Promise.withResolvers<string>()
      gateway.upstream.handle((request, response) => {
        void firstData(request).then(first.resolve)
        request.on('end', () => response.end('done'))
      })
      const outgoing = gateway.open(path, { method: 'POST', headers: [framing] })
      outgoing.write('first ')
      expect(await first.promise).toBe('first ')
      outgoing.end('later')
      expect((await responseTo(outgoing)).text).toBe('done')
    }
  })

  test('[esb.response] the caller has the first part of an answer before the upstream sends the second', async () => {
    for (const headers of [{}, { 'content-length': 11 }]) {
      const seen = Promise.withResolvers<void>()
      gateway.upstream.answer((_request, response) => {
        response.writeHead(200, headers).write('first ')
        void seen.promise.then(() => response.end('later'))
      })
      const outgoing = gateway.open(path)
      const [first, answer] = [firstPart(outgoing), responseTo(outgoing)]
      outgoing.end()
      expect(await first).toBe('first ')
      seen.resolve()
      expect((await answer).text).toBe('first later')
    }
  })

  test('an answer that overtakes its request is passed on, and the connection ends with it', async () => {
    gateway.upstream.handle((_request, response) => void response.writeHead(409).end('enough'))
    const headers: HeaderLine[] = [...kept, ['transfer-encoding', 'chunked']]
    const outgoing = gateway.open(path, { method: 'POST', headers })
    outgoing.write('the first of much')
    const answer = await responseTo(outgoing)
    expect([answer.status, answer.text, answer.headers.connection]).toEqual([409, 'enough', 'close'])
    expect((await gateway.send(path, { headers: kept })).headers.connection).toBe('keep-alive')
  })

  test('[esb.hop-by-hop] a transfer coding that would be lost on the way is refused in both directions', async () => {
    const coded: HeaderLine[] = [['Transfer-Encoding', 'gzip, chunked']]
    const outgoing = gateway.open(path, { method: 'POST', headers: coded })
    outgoing.end('x')
    const refused = await responseTo(outgoing)
    expect([refused.status, refused.error]).toEqual([400, 'Transfer-Encoding must be chunked, or absent'])
    expect(received()).toBeUndefined()
    const chunks = 'Transfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n'
    gateway.upstream.handle((_request, { socket }) => socket?.end(`HTTP/1.1 200 OK\r\n${chunks}`))
    expect((await gateway.send(path)).status).toBe(502)
    for (const spelt of ['chunked', 'Chunked']) {
      gateway.upstream.reset()
      const plain = gateway.open(path, { method: 'POST', headers: [['Transfer-Encoding', spelt]] })
      plain.end('x')
      expect((await responseTo(plain)).status).toBe(200)
    }
  })

  test('[esb.hop-by-hop] a caller that waits for 100 Continue gets it, and the upstream is not asked', async () => {
    const headers: HeaderLine[] = [
      ['Expect', '100-continue'],
      ['Content-Length', '5'],
    ]
    const outgoing = gateway.open(path, { method: 'POST', headers })
    outgoing.flushHeaders()
    await new Promise((resolve) => outgoing.once('continue', resolve))
    outgoing.end('hello')
    expect((await responseTo(outgoing)).status).toBe(200)
    expect([received()?.body.toString(), received()?.headers.expect]).toEqual(['hello', undefined])
  })
})

describe('limits', () => {
  test('[esb.body-limit] a request body may have as many bytes as configured and not one more', async () => {
    for (const at of [path, rendered])
      for (const isChunked of [false, true])
        for (const [extra, status] of [
          [0, 200],
          [1, 413],
          [70_000, 413],
        ] as const) {
          const body = 'x'.repeat(tightBytes + extra)
          const answer = await gateway.send(at, { method: 'POST', body, isChunked, to: tight })
          expect([at, isChunked, extra, answer.status]).toEqual([at, isChunked, extra, status])
          expect(answer.error ?? received()?.body.toString()).toBe(
            status === 200 ? body : 'the request body is larger than 2048 bytes',
          )
        }
    expect(gateway.upstream.received).toHaveLength(4)
  })

  test('[esb.body-limit] a body that grows too large is not waited for to its end', async () => {
    const [begun, ended] = [Promise.withResolvers<string>(), Promise.withResolvers<boolean>()]
    gateway.upstream.handle((request) => {
      begun.resolve(firstData(request))
      request.on('error', () => undefined).on('close', () => ended.resolve(request.complete))
    })
    for (const [at, isWaiting] of [
      [path, true],
      [path, false],
      [rendered, false],
    ] as const) {
      const headers: HeaderLine[] = [...kept, ['transfer-encoding', 'chunked']]
      const outgoing = gateway.open(at, { method: 'POST', headers, to: tight })
      outgoing.write(Buffer.alloc(tightBytes))
      if (isWaiting) await begun.promise
      outgoing.write('x')
      const answer = await responseTo(outgoing)
      expect([at, answer.status, answer.headers.connection]).toEqual([at, 413, 'close'])
    }
    // The forwarded part must not look like a complete body.
    expect(await ended.promise).toBe(false)
  })

  test('[esb.body-limit] unless configured it is 10 MiB', async () => {
    for (const isChunked of [false, true]) {
      const body = Buffer.alloc(10 * mebibyte, 'x')
      expect((await gateway.send(path, { method: 'POST', body, isChunked })).status).toBe(200)
      expect(received()?.body.length).toBe(body.length)
    }
    const announced: HeaderLine[] = [...kept, ['content-length', String(10 * mebibyte + 1)]]
    const outgoing = gateway.open(path, { method: 'POST', headers: announced })
    outgoing.flushHeaders()
    const { status, headers } = await responseTo(outgoing)
    // The gateway does not wait for the rest of the body.
    expect([status, headers.connection]).toEqual([413, 'close'])
    expect(gateway.upstream.received).toHaveLength(2)
  })

  test('[esb.forward-limits] an answer may have as many bytes as configured and not one more, however its end is marked', async () => {
    const heads: Record<string, (length: number) => string> = {
      length: (length) => `Content-Length: ${length}\r\n\r\n`,
      chunked: (length) => `Transfer-Encoding: chunked\r\n\r\n${length.toString(16)}\r\n`,
      eof: () => '\r\n',
    }
    for (const [framing, head] of Object.entries(heads))
      for (const extra of [0, 1]) {
        const body = 'x'.repeat(tightAnswerBytes + extra)
        gateway.upstream.handle((_request, response) =>
          response.socket?.end(
            `HTTP/1.1 200 OK\r\n${head(body.length)}${body}${framing === 'chunked' ? '\r\n0\r\n\r\n' : ''}`,
          ),
        )
        const { status, text, error } = await gateway.send(path, { to: tight })
        const tooLarge = 'the call could not be forwarded: the upstream response is too large'
        expect([framing, status, error ?? text]).toEqual([
          framing,
          ...(extra === 0 ? [200, body] : [502, tooLarge]),
        ])
      }
  })

  test('[esb.forward-limits] unless configured it is 10 MiB', async () => {
    gateway.upstream.answer((request, response) => {
      response.writeHead(200, { 'content-length': Number(request.headers['x-length']) })
      response.end(Buffer.alloc(Number(request.headers['x-length'])))
    })
    for (const [length, status] of [
      [10 * mebibyte, 200],
      [10 * mebibyte + 1, 502],
    ] as const)
      expect((await gateway.send(path, { headers: [['x-length', String(length)]] })).status).toBe(status)
  })

  test('[esb.forward-limits] an answer that grows too large after it has begun is cut, and never looks whole', async () => {
    // Neither framing announces a length, so the caller has received the status 200 and the first bytes before the
    // limit is reached.
    for (const [framing, part] of [
      [
        'Transfer-Encoding: chunked\r\n\r\n',
        (bytes: string) => `${bytes.length.toString(16)}\r\n${bytes}\r\n`,
      ],
      ['\r\n', (bytes: string) => bytes],
    ] as const) {
      const begun = Promise.withResolvers<void>()
      gateway.upstream.handle((_request, response) => {
        response.socket?.write(`HTTP/1.1 200 OK\r\n${framing}${part('x'.repeat(tightAnswerBytes))}`)
        void begun.promise.then(() => response.socket?.end(part('x')))
      })
      const { id, path: own } = await gateway.endpoint({ url: gateway.upstream.url, logLevel: 'BASIC' })
      const outgoing = gateway.open(own, { to: tight })
      const status = new Promise((resolve) =>
        outgoing.once('response', ({ statusCode }) => resolve(statusCode)),
      )
      const [first, answer] = [firstPart(outgoing), responseTo(outgoing)]
      outgoing.end()
      await first
      begun.resolve()
      await expect(answer).rejects.toThrow('aborted')
      expect(await status).toBe(200)
      await expect
        .poll(async () => (await gateway.logged(id)).map((row) => [row.response_status, row.failure]), {
          timeout: 60_000,
        })
        .toEqual([[502, 'the upstream response is too large']])
    }
  })
})
