// These tests check that large bodies are never buffered completely.
import { type ClientRequest, type IncomingMessage } from 'node:http'
import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { TestApp } from '../../../test/kit/app.ts'
import {
  type Gateway,
  type HeaderLine,
  responseTo,
  startGateway,
  startSized,
} from '../../../test/kit/gateway.ts'

const mebibyte = 1_048_576

let gateway: Gateway
let roomy: TestApp
let path: string
beforeAll(async () => {
  gateway = await startGateway()
  roomy = await startSized(gateway, 1_024 * mebibyte, 1_024 * mebibyte)
  ;({ path } = await gateway.endpoint({ url: gateway.upstream.url }))
})
afterAll(async () => {
  await roomy.close()
  await gateway.close()
})
beforeEach(() => gateway.upstream.reset())

const incomingMessageOf = (outgoing: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => outgoing.once('response', resolve).once('error', reject))

describe('large bodies are never held whole', () => {
  const totalBytes = 128 * mebibyte
  const part = Buffer.alloc(65_536, 'x')
  const lateMs = 300

  /**
   * Returns the memory of live buffers. A thread frees unused buffers; the second garbage collection waits for this
   * thread.
   */
  function bufferedBytes(): number {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    collect()
    collect()
    return process.memoryUsage().arrayBuffers
  }
  /** Creates a body of 128 MiB and reports how many of its bytes have been consumed. */
  function body() {
    let taken = 0
    const parts = (function* () {
      for (; taken < totalBytes; taken += part.length) yield part
    })()
    return { stream: Readable.from(parts, { objectMode: false }), taken: () => taken }
  }
  /**
   * Starts to read after a delay. Returns the number of bytes that arrived, the lag behind the sender, and the buffer
   * memory during the transfer.
   */
  async function readLate(stream: Readable, taken: () => number) {
    const samples: number[] = []
    let [arrived, behind] = [0, 0]
    await new Promise((resolve) => setTimeout(resolve, lateMs))
    for await (const chunk of stream) {
      behind = Math.max(behind, taken() - arrived)
      if (arrived >= 16 * mebibyte * samples.length) samples.push(bufferedBytes())
      arrived += (chunk as Buffer).length
    }
    return { arrived, behind, held: samples.toSorted((a, b) => a - b)[samples.length >> 1] ?? 0 }
  }
  const expectBounded = (seen: Awaited<ReturnType<typeof readLate>>, before: number): void => {
    expect(seen.arrived).toBe(totalBytes)
    // The limit covers the buffers of four sockets.
    expect(seen.behind).toBeLessThan(32 * mebibyte)
    expect(seen.held - before).toBeLessThan(32 * mebibyte)
  }

  test('[esb.body-unchanged] a caller is held back by an upstream that reads late', async () => {
    const before = bufferedBytes()
    const { stream, taken } = body()
    const seen = Promise.withResolvers<Awaited<ReturnType<typeof readLate>>>()
    gateway.upstream.handle((request, response) => {
      const late = readLate(request, taken)
      seen.resolve(late)
      void late.finally(() => response.end())
    })
    const headers: HeaderLine[] = [['content-length', String(totalBytes)]]
    const outgoing = gateway.open(path, { method: 'POST', headers, to: roomy })
    const [answer] = await Promise.all([responseTo(outgoing), pipeline(stream, outgoing as Writable)])
    expect(answer.status).toBe(200)
    expectBounded(await seen.promise, before)
  })

  test('[esb.response] an upstream is held back by a caller that reads late', async () => {
    const before = bufferedBytes()
    const { stream, taken } = body()
    gateway.upstream.answer((_request, response) => void stream.pipe(response))
    const outgoing = gateway.open(path, { to: roomy })
    outgoing.end()
    expectBounded(await readLate(await incomingMessageOf(outgoing), taken), before)
  })
})
