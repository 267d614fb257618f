// Tests that rows appended in bulk belong to the same chains as all other rows.
import { expect, test } from 'vitest'
import { type AuditEvent, createAudit, createSystemActor } from '../../src/platform/audit/append.ts'
import { createAppendMany } from '../../src/platform/audit/append-many.ts'
import { testEnv } from '@manager/harness/test-env.ts'
import { chainRows } from '../kit/audit-rows.ts'
import { runManager } from '../kit/commands.ts'
import { useProject } from '../kit/project.ts'
import { seedProject } from '@manager/harness/seed.ts'

const { service } = useProject({ slug: 'many' })
const actor = createSystemActor('a test')
const event = (projectId: string | null, name: string): AuditEvent => ({
  projectId,
  entityType: 'thing',
  entityId: name,
  action: 'create',
  description: `thing ${name} created`,
  classes: { name: 'public', key: 'secret' },
  before: null,
  after: { name, key: 'hidden' },
  metadata: { number: 1.5, text: 'ä"\u2028' },
})

test('[audit-append.prev-hash] in their order, between rows of single changes, without a gap; the trail verifies', async () => {
  const own = await seedProject(service.sql, 'bulk')
  const { db, clock } = service.world.database
  const [one, many] = [createAudit(clock), createAppendMany(clock)]
  await db.transaction((tx) => one.append(tx, actor, event(own.id, 'first')))
  const names = Array.from({ length: 600 }, (_, index) => `n${index}`)
  await db.transaction((tx) =>
    many(tx, actor, [event(null, 'of the system'), ...names.map((name) => event(own.id, name))]),
  )
  await db.transaction((tx) => one.append(tx, actor, event(own.id, 'last')))
  const rows = (await chainRows(service, own.id)).filter(({ entity_type: type }) => type === 'thing')
  expect(rows.map(({ entity_id: id }) => id)).toEqual(['first', ...names, 'last'])
  expect(rows[1]?.changes).toMatchObject({ key: { before: null, after: '[secret]' } })
  const { code, stdout } = await runManager(['audit', 'verify'], testEnv(service.database.url))
  expect([code, stdout]).toEqual([0, expect.stringContaining('audit trail ok')])
})

test('what fails leaves neither rows nor a head', async () => {
  const own = await seedProject(service.sql, 'failing')
  const { db, clock } = service.world.database
  const failing = db.transaction(async (tx) => {
    await createAppendMany(clock)(tx, actor, [event(own.id, 'lost')])
    throw new Error('afterwards')
  })
  await expect(failing).rejects.toThrow('afterwards')
  expect(await chainRows(service, own.id)).toEqual([])
})
