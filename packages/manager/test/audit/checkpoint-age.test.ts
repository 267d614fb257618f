// Tests the metric for the age of the last checkpoint. Alerts depend on this metric.
import { expect, test } from 'vitest'
import { startTestApp } from '../kit/app.ts'
import { seedUser } from '@manager/harness/seed.ts'

const hour = 3_600

test('begins with the oldest change that is not sealed, grows while sealing fails, and falls when it succeeds', async () => {
  const past = { now: () => new Date(Date.now() - hour * 1_000) }
  const service = await startTestApp({ world: { clock: past } })
  const age = async (): Promise<number | null> => {
    const text = await service.world.metrics.registry.metrics()
    const [, value] = /^svc_audit_checkpoint_age_seconds (\S+)$/m.exec(text) ?? []
    return value === undefined ? null : Number(value)
  }
  const seal = () => service.app.schedules.find(({ name }) => name === 'audit-checkpoint')?.run()
  const admin = await seedUser(service.sql, 'admin', 'administrator')
  await service.query(admin, 'mutation { createProject(input: {name: "x", slug: "x"}) { id } }')
  expect(await age()).toBeNull()

  await service.sql.query('alter table audit_checkpoints rename to lost')
  await expect(seal()).rejects.toThrow('audit_checkpoints')
  const first = (await age()) ?? 0
  expect(first).toBeGreaterThanOrEqual(hour)
  await expect(seal()).rejects.toThrow('audit_checkpoints')
  expect(await age()).toBeGreaterThan(first)

  await service.sql.query('alter table lost rename to audit_checkpoints')
  await seal()
  expect(await age()).toBeLessThan(hour)
  await service.close()
})

test('is no alarm where nothing happens: an old checkpoint that covers everything', async () => {
  const past = { now: () => new Date(Date.now() - hour * 1_000) }
  const service = await startTestApp({ world: { clock: past } })
  const admin = await seedUser(service.sql, 'admin', 'administrator')
  await service.query(admin, 'mutation { createProject(input: {name: "x", slug: "x"}) { id } }')
  await service.app.schedules.find(({ name }) => name === 'audit-checkpoint')?.run()
  const replica = await startTestApp({ database: service.database })
  await service.sql.query('alter table audit_checkpoints rename to lost')
  await expect(replica.app.schedules.find(({ name }) => name === 'audit-checkpoint')?.run()).rejects.toThrow(
    'audit_checkpoints',
  )
  const [, age] =
    /^svc_audit_checkpoint_age_seconds (\S+)$/m.exec(await replica.world.metrics.registry.metrics()) ?? []
  expect(Number(age)).toBeLessThan(hour)
  await replica.close()
  await service.close()
})
