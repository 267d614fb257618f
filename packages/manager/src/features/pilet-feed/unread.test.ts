// These tests send bundles to clients that do not read.
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { proxySecret } from '@manager/harness/callers.ts'
import { startTestApp } from '../../../test/kit/app.ts'
import { requestThroughProxy } from '../../../test/kit/cached-responses.ts'
import { statusOf } from '@manager/harness/http-messages.ts'
import { addPackages, setLayer } from '../../../test/kit/pilet-rows.ts'
import { useProject } from '../../../test/kit/project.ts'
import { type RawSocket, openRaw } from '../../../test/kit/raw-socket.ts'
import type { SeededProject } from '@manager/harness/seed.ts'

// The size exceeds the socket buffers of a connection without a reader.
const size = 8 * 1_048_576
const { service, project, other } = useProject({
  withOther: true,
  env: {
    SVC_PILETS_MAX_UPLOAD_BYTES: String(size),
    SVC_PILETS_SEND_MEMORY_BYTES: String(2 * size),
    SVC_PILETS_CACHE_BYTES: '0',
  },
})
const names = ['a', 'b', 'c', 'd']
const bytesOf = (of: SeededProject, name: string): Buffer => Buffer.alloc(size, `${of.id} ${name} `)
beforeAll(async () => {
  const packages = names.map((name) => ({ name, version: '1.0.0', bytes: bytesOf(project, name) }))
  for (const one of packages) await addPackages(service.sql, project.id, [one])
  await addPackages(service.sql, other.id, [{ name: 'b', version: '1.0.0', bytes: bytesOf(other, 'b') }])
  for (const owner of [project, other]) await setLayer(service.sql, owner, 'project', { modules: names })
})

const pathOf = (of: SeededProject, name: string): string =>
  `/pilet-bundle/${of.applicationId}/${of.id}/${name}/1.0.0`
const requestOf = (path: string): string =>
  `GET ${path} HTTP/1.1\r\nhost: h\r\nx-proxy-auth: ${proxySecret}\r\n\r\n`
const bufferedBytes = async (): Promise<number> => {
  const text = await service.world.metrics.registry.getSingleMetricAsString('svc_pilet_send_bytes')
  return Number(/^svc_pilet_send_bytes (\d+)$/m.exec(text)?.[1])
}
const expectHeld = async (bytes: number): Promise<void> => {
  await expect.poll(bufferedBytes, { timeout: 20_000, interval: 20 }).toBe(bytes)
}
const clients: RawSocket[] = []
/** Opens a client that requests these paths and reads nothing. */
async function beginUnread(...paths: string[]): Promise<RawSocket> {
  const client = await openRaw(service.url)
  clients.push(client)
  client.socket.pause()
  client.send(paths.map(requestOf).join(''))
  return client
}
afterEach(async () => {
  for (const { socket } of clients.splice(0)) socket.destroy()
  await expectHeld(0)
})

describe('bundles that a client does not read', () => {
  // A request waits for several seconds before it is rejected.
  test('[pilet-feed.bundle] fill the share of their project: 503 with `Retry-After`, until the client leaves', async () => {
    const slow = await beginUnread(pathOf(project, 'a'))
    const second = await beginUnread(pathOf(project, 'b'))
    await expectHeld(2 * size)
    const { status, headers, body } = await requestThroughProxy(service, pathOf(project, 'c'))
    expect([status, headers['retry-after'], headers['cache-control'], headers['etag']]).toEqual([
      503,
      '1',
      'no-store',
      undefined,
    ])
    expect(JSON.parse(body)).toMatchObject({ error: 'too many bundles are being sent; try again' })
    // Sending the same bundle to another client needs no additional memory.
    expect((await requestThroughProxy(service, pathOf(project, 'a'))).status).toBe(200)
    await expectHeld(2 * size)
    // Another project gets its share of the memory, so one of the two unread transfers is aborted.
    expect((await requestThroughProxy(service, pathOf(other, 'b'))).status).toBe(200)
    await expectHeld(size)
    for (const { socket } of [slow, second]) socket.destroy()
    await expectHeld(0)
    expect((await requestThroughProxy(service, pathOf(project, 'b'))).status).toBe(200)
  })

  test('are not read while they wait behind another one on the connection; each is sent in its turn', async () => {
    const slow = await beginUnread(...names.map((name) => pathOf(project, name)))
    await expectHeld(size)
    let received = 0
    slow.socket.on('data', ({ length }: Buffer) => (received += length))
    slow.socket.resume()
    // Counting bytes is faster than parsing the whole input on every chunk.
    await expect.poll(() => received, { timeout: 20_000 }).toBeGreaterThan(names.length * size)
    const answers = await slow.completeResponses(names.length)
    expect(answers.map(statusOf)).toEqual([200, 200, 200, 200])
    for (const [index, name] of names.entries())
      expect(answers[index]?.body.equals(bytesOf(project, name))).toBe(true)
  })

  test('hold nothing when the client leaves while some wait', async () => {
    const slow = await beginUnread(...names.map((name) => pathOf(project, name)))
    await expectHeld(size)
    slow.socket.destroy()
    await expectHeld(0)
    const lines = () => service.logLines.filter(({ aborted }) => aborted === true)
    await expect.poll(() => lines().length).toBeGreaterThanOrEqual(names.length)
    expect(service.logLines.filter(({ level }) => level === 'error')).toEqual([])
  })
})

test('the service does not start with less room than two of the largest bundles', async () => {
  const env = {
    SVC_PILETS_MAX_UPLOAD_BYTES: String(size),
    SVC_PILETS_SEND_MEMORY_BYTES: String(2 * size - 1),
  }
  await expect(startTestApp({ env, database: service.database })).rejects.toThrow(
    'pilets.send_memory_bytes must be at least twice pilets.max_upload_bytes',
  )
})
