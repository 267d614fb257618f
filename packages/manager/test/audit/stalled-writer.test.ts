// Tests that a writer that stalls while it locks its chain blocks neither the checkpoint nor other projects.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { verifyAudit } from '../../src/platform/audit/verify.ts'
import { createSigningKey } from '../../src/platform/secrets/keys.ts'
import { masterKey, type Person } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { type SeededProject, seedProject, seedUser } from '@manager/harness/seed.ts'

let service: TestApp
let admin: Person
let [held, beside]: SeededProject[] = []
beforeAll(async () => {
  service = await startTestApp()
  admin = await seedUser(service.sql, 'admin', 'administrator')
  ;[held, beside] = [await seedProject(service.sql, 'held'), await seedProject(service.sql, 'beside')]
})
afterAll(() => service.close())

const change = (project: SeededProject | undefined, name: string) =>
  service.query(
    admin,
    'mutation($id: ID!, $name: String!) { updateProject(id: $id, input: {name: $name}) { id } }',
    { id: project?.id, name },
  )
const seal = (): Promise<void> | undefined =>
  service.app.schedules.find(({ name }) => name === 'audit-checkpoint')?.run()
const notSealed = async (project: SeededProject | undefined): Promise<number> => {
  const { rows } = await service.sql.query<{ rows: number }>(
    'select (seq - checkpointed_seq)::int as rows from audit_chains where chain_id = $1',
    [project?.id],
  )
  return rows[0]?.rows ?? Number.NaN
}

test('[audit-append.checkpoint] what a stalled writer holds is sealed later; the other chains are sealed and written meanwhile', async () => {
  for (const project of [held, beside]) await change(project, 'before')
  const stalled = await service.sql.connect()
  await stalled.query('begin')
  await stalled.query('select from audit_chains where chain_id = $1 for update', [held?.id])
  try {
    // If one of these operations waited for the stalled writer, it would not finish before the lock is released.
    await seal()
    expect(await notSealed(beside)).toBe(0)
    const sealing = seal()
    expect((await change(beside, 'meanwhile')).error).toBeNull()
    await sealing
    expect(await notSealed(held)).toBe(1)
  } finally {
    await stalled.query('commit')
    stalled.release()
  }
  await seal()
  expect([await notSealed(held), await notSealed(beside)]).toEqual([0, 0])
  const key = createSigningKey(Buffer.from(masterKey, 'base64'), 'audit-checkpoint')
  expect(await verifyAudit(service.world.database.db, [key])).toMatchObject({
    status: 'ok',
    checkpoints: { problem: null },
  })
})
