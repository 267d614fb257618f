// Tests connection poolers: a pooler that shares sessions is rejected at startup, and other poolers work.
import { Pool } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { assertOwnStatements } from '../src/platform/postgres/poolers.ts'
import { type PgBouncerOptions, startPgBouncer } from '@manager/harness/engines/pgbouncer.ts'
import { type TestApp, startTestApp } from './kit/app.ts'
import { testEnv } from '@manager/harness/test-env.ts'
import { runUntilExit, startProcess } from '@manager/harness/process.ts'

let service: TestApp
beforeAll(async () => {
  service = await startTestApp()
})
afterAll(() => service.close())

const behind = async <T>(mode: PgBouncerOptions['mode'], work: (url: string) => Promise<T>): Promise<T> => {
  const bouncer = await startPgBouncer({ url: service.database.url, mode })
  try {
    return await work(bouncer.url)
  } finally {
    await bouncer.close()
  }
}
const verdict = async (url: string): Promise<string> => {
  const pool = new Pool({ connectionString: url, max: 2 })
  try {
    return await assertOwnStatements(pool).then(
      () => 'own',
      (error: Error) => error.message,
    )
  } finally {
    await pool.end()
  }
}

test('a direct connection, and a pooler by session, have statements of their own', async () => {
  expect(await verdict(service.database.url)).toBe('own')
  expect(await behind('session', verdict)).toBe('own')
})

test('a pooler by transaction that knows nothing of names is told apart, every time', async () => {
  await behind('transaction', async (url) => {
    for (let round = 0; round < 5; round++)
      expect(await verdict(url)).toMatch(/^the connection pooler .* mixes up/)
  })
})

test('a start behind it is refused in one sentence; behind sessions the service serves', async () => {
  const refused = await behind('transaction', (url) => runUntilExit(testEnv(url)))
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringMatching(/^start failed: the connection pooler [^\n]*\n$/),
  ])
  await behind('session', async (url) => {
    const replica = await startProcess(url, { SVC_SHUTDOWN_DRAIN_DELAY_MS: '0' })
    const headers = { authorization: `Bearer ${'x'.repeat(43)}` }
    expect((await fetch(`${replica.url}/api/machine/check`, { headers })).status).toBe(200)
    replica.child.kill('SIGTERM')
    expect(await replica.exit).toBe(0)
  })
})
