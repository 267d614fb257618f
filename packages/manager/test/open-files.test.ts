// Tests that file descriptors are divided: idle connections do not lock out other clients or crash the process.
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestApp } from './kit/app.ts'
import { testEnv } from '@manager/harness/test-env.ts'
import type { TestDatabase } from './kit/databases.ts'
import { startWithFdLimit, unknownPerson } from './kit/fd-limit.ts'
import { gatewayScene, startGateway } from './kit/gateway.ts'
import { runUntilExit } from '@manager/harness/process.ts'

let database: TestDatabase
let close: () => Promise<void>
beforeAll(async () => {
  ;({ database, close } = await startWithFdLimit())
})
afterAll(() => close())

describe('with 256 open files', () => {
  test('a limit that leaves nothing to share stops the start and is named', async () => {
    const result = await runUntilExit(
      { ...testEnv(database.url), SVC_DATABASE_POOL_SIZE: '200' },
      'ulimit -n 256',
    )
    expect([result.code, result.stderr]).toEqual([
      1,
      expect.stringMatching(/the open file limit is too low: it is 256, but this configuration needs \d+/),
    ])
  })
})

describe('overload', () => {
  test('connections to all endpoints together are bounded, and one project leaves some to the others', async () => {
    const gateway = await startGateway({ env: { SVC_ESB_MAX_CONNECTIONS: '6' } })
    const other = await gatewayScene(gateway.service, 'other')
    // Each project has a partner that accepts every request and never responds.
    const silent = await Promise.all(
      [1, 2].map(async () => {
        const server = createServer((socket) => void socket.resume().on('error', () => undefined))
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
        return server
      }),
    )
    const urls = silent.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    const open = () =>
      Promise.all(
        silent.map((server) => new Promise<number>((resolve) => server.getConnections((_, n) => resolve(n)))),
      )
    const over = new AbortController()
    const hanging: Promise<unknown>[] = []
    for (const [index, scene] of [gateway, other].entries()) {
      const { path } = await scene.endpoint({ url: urls[index] })
      const most = index === 0 ? 5 : 1
      for (let i = 0; i < most; i++) hanging.push(scene.call(path, { signal: over.signal }).catch(() => null))
      await expect.poll(async () => (await open())[index]).toBe(most)
      const refused = await scene.call(path)
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    }
    expect(await open()).toEqual([5, 1])
    over.abort()
    await Promise.all(hanging)
    const { path } = await gateway.endpoint({ url: `${gateway.upstream.url}/` })
    await expect.poll(async () => (await gateway.call(path)).status).toBe(200)
    await gateway.close()
    for (const server of silent) server.close()
  })

  test('while the event loop lags, requests are answered 503 and health is answered', async () => {
    let lagMs = 0
    const app = await startTestApp({ transport: { loopDelayMs: () => lagMs } })
    const ask = () => app.query(unknownPerson, '{ me { id } }')
    for (const [ms, status] of [
      [1_000, 200],
      [1_001, 503],
      [Infinity, 503],
      [0, 200],
    ] as const) {
      lagMs = ms
      const answer = await ask()
      expect([ms, answer.status, answer.headers.get('retry-after')]).toEqual([
        ms,
        status,
        status === 503 ? '1' : null,
      ])
      expect((await fetch(`${app.url}/health`)).status).toBe(200)
    }
    await app.close()
  })
})
