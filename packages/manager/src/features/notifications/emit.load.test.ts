// This test sends the same idempotency key to several processes concurrently.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { emit, generousLimits, targetFields, seedTenantMember } from '../../../test/kit/comms.ts'
import { loadSize } from '@manager/harness/load-sizes.ts'
import { type ServiceProcess, startProcess } from '@manager/harness/process.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedMachineUser } from '@manager/harness/seed.ts'

const { service, project } = useProject({ env: generousLimits })
let token: string
beforeAll(async () => {
  token = (await seedMachineUser(service.sql, project)).token
  await seedTenantMember(service, project)
})
const count = async (table: string): Promise<number> => {
  const { rows } = await service.sql.query<{ count: number }>(`select count(*)::int as count from ${table}`)
  return rows[0]?.count ?? 0
}

describe('keys from several processes', () => {
  let processes: ServiceProcess[]
  beforeAll(async () => {
    processes = await Promise.all([1, 2, 3].map(() => startProcess(service.database.url, generousLimits)))
  })
  afterAll(async () => {
    for (const { child } of processes) child.kill()
    await Promise.all(processes.map(({ exit }) => exit))
  })

  test('[comms.idempotency] twenty keys, each sent thirty times at once to three processes, make twenty notifications', async () => {
    for (let round = 0; round < loadSize(1, 3); round++) {
      const before = await count('notifications')
      const keys = Array.from({ length: 20 }, () => randomUUID())
      const sent = keys.flatMap((key) => Array.from({ length: 30 }, (_, n) => ({ key, n })))
      const answers = await Promise.all(
        sent
          .toSorted(() => Math.random() - 0.5)
          .map(async ({ key, n }) => {
            const body = { ...targetFields(project), title: key }
            for (;;) {
              const { status, body: answer } = await emit(
                processes[n % 3] as ServiceProcess,
                token,
                body,
                key,
              )
              // An overloaded process returns 503, and a client with a key retries.
              if (status !== 503) return { key, status, answer: JSON.stringify(answer) }
            }
          }),
      )
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]))
      for (const key of keys)
        expect(new Set(answers.filter((one) => one.key === key).map(({ answer }) => answer)).size).toBe(1)
      expect(await count('notifications')).toBe(before + 20)
    }
  })
})
