// Tests three processes that append to one chain concurrently.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { headersOf, type Person } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { testEnv } from '@manager/harness/test-env.ts'
import { chainRows } from '../kit/audit-rows.ts'
import { postQuery } from '@manager/harness/graphql.ts'
import { type ServiceProcess, startProcess } from '@manager/harness/process.ts'
import { runManager } from '../kit/commands.ts'
import { seedProject, seedUser } from '@manager/harness/seed.ts'

let service: TestApp
let admin: Person
beforeAll(async () => {
  service = await startTestApp()
  admin = await seedUser(service.sql, 'admin', 'administrator')
})
afterAll(() => service.close())

/**
 * Retries as long as the service asks for a retry: on a busy machine, some of several hundred requests may wait too
 * long.
 */
async function untilServed(send: () => Promise<string | null>): Promise<string | null> {
  for (let tries = 0; ; tries++) {
    const error = await send()
    if (tries === 20 || error?.endsWith('try again') !== true) return error
    await new Promise((resolve) => setTimeout(resolve, 1_000))
  }
}

describe('three processes on one project', () => {
  let processes: ServiceProcess[]
  beforeAll(async () => {
    processes = await Promise.all(
      Array.from({ length: 3 }, () =>
        startProcess(service.database.url, { SVC_SHUTDOWN_DRAIN_DELAY_MS: '0' }),
      ),
    )
  })
  afterAll(async () => {
    for (const { child } of processes) child.kill('SIGTERM')
    await Promise.all(processes.map(({ exit }) => exit))
  })

  test('[audit-append.seq-gapless] 400 concurrent mutations leave a gapless chain that verifies', async () => {
    const own = await seedProject(service.sql, 'busy')
    const create = async (i: number): Promise<string | null> => {
      const text = `mutation { createTenant(projectId: "${own.id}", input: {name: "t", slug: "t-${i}"}) { id } }`
      const { error } = await postQuery(processes[i % 3]?.url ?? '', headersOf(admin), text)
      return error
    }
    const errors = await Promise.all(Array.from({ length: 400 }, (_, i) => untilServed(() => create(i))))
    expect(errors.filter((error) => error !== null)).toEqual([])
    const seqs = (await chainRows(service, own.id)).map((row) => Number(row.seq))
    expect(seqs).toEqual(Array.from({ length: 400 }, (_, i) => i + 1))
    const verified = await runManager(['audit', 'verify'], testEnv(service.database.url))
    expect(verified.stdout).toMatch(/^audit trail ok: \d+ rows/)
    expect(verified.code).toBe(0)
  }, 60_000)
})
