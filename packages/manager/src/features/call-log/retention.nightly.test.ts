// These tests drop monthly partitions while the log is read. Calls must wait at most 2 s.
import { afterAll, describe, expect, test } from 'vitest'
import type { TestApp } from '../../../test/kit/app.ts'
import { seedCaller } from '../../../test/kit/esb-calls.ts'
import { addMonth, callDuringRun, readLog, retainingServices } from '../../../test/kit/log-months.ts'
import { seedProject } from '@manager/harness/seed.ts'

const services: TestApp[] = []

const { start } = retainingServices(services)
// Replicas are closed before the service that owns their database.
afterAll(async () => {
  for (const service of services) await service.close()
})

describe('months of the log', () => {
  test('that are to be dropped while someone reads the log hold calls up for two seconds at most', async () => {
    const service = await start()
    await addMonth(service, '2020-01-01', '2020-02-01')
    const caller = await seedCaller(service.sql, await seedProject(service.sql, 'busy'))
    const reader = await readLog(service)
    const begun = performance.now()
    const { failure } = await callDuringRun(service, caller)
    expect(performance.now() - begun).toBeLessThan(4_000)
    expect(await failure).toMatchObject({ code: '55P03' })
    await reader.end()
  })
})
