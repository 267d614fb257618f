// These tests cover the retention of notifications: by the database clock, in batches, and in several processes
// concurrently.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { runSchedule } from '../../../test/kit/schedules.ts'
import { whileLocked } from '../../../test/kit/locks.ts'
import { useProject } from '../../../test/kit/project.ts'
import { type SeededProject, seedProject } from '@manager/harness/seed.ts'

const { service, project } = useProject()
let replica: TestApp
let other: SeededProject
beforeAll(async () => {
  replica = await startTestApp({ database: service.database })
  other = await seedProject(service.sql, 'other')
})
afterAll(() => replica.close())
beforeEach(async () => {
  await service.sql.query(
    'truncate notifications, notification_recipients, notification_keys, notification_erasures',
  )
})

type Seeded = { createdAt?: string; expires?: string | null; users?: number; place?: SeededProject }
/** Creates a notification with recipients; times are SQL expressions. */
async function seed({
  createdAt = 'now()',
  expires = null,
  users = 1,
  place = project,
}: Seeded): Promise<string> {
  const id = randomUUID()
  await service.sql.query(
    `with content as (
       insert into notifications (id, created_at, tenant_id, application_id, severity, expires_at)
       values ('${id}', ${createdAt}, $1, $2, 'info', ${expires}) returning *)
     insert into notification_recipients (tenant_id, application_id, user_id, created_at, notification_id, expires_at)
     select tenant_id, application_id, gen_random_uuid(), created_at, id, expires_at from content, generate_series(1, $3)`,
    [place.tenantId, place.applicationId, users],
  )
  return id
}
async function seedKey(place: SeededProject, key: string, expires: string): Promise<void> {
  await service.sql.query(
    `insert into notification_keys (tenant_id, application_id, key, fingerprint, notification_id, request_id,
       recipient_count, expires_at) values ($1, $2, $3, sha256(''), gen_random_uuid(), 'r', 1, ${expires})`,
    [place.tenantId, place.applicationId, key],
  )
}
async function counts() {
  const { rows } = await service.sql.query<Record<string, number>>(
    `select (select count(*)::int from notifications) as contents,
       (select count(*)::int from notification_recipients) as recipients,
       (select count(*)::int from notification_keys) as keys,
       (select count(*)::int from notification_erasures) as erasures`,
  )
  return rows[0]
}
const run = (name: string) => Promise.all([service, replica].map((app) => runSchedule(app, name)))

describe('expired notifications', () => {
  test('[comms.retention] go with their content at the next run, and those that expire later or never stay', async () => {
    await seed({ expires: "now() - interval '1 second'", users: 3 })
    await seed({ expires: "now() + interval '1 hour'", users: 2 })
    await seed({})
    await run('notifications-expiry')
    expect(await counts()).toMatchObject({ contents: 2, recipients: 3 })
  })

  test('go in parts, of which there may be many, also of one notification', async () => {
    await seed({ expires: "now() - interval '1 second'", users: 11_000 })
    await seed({ users: 2 })
    service.statements.length = 0
    await runSchedule(service, 'notifications-expiry')
    expect(service.statements).toHaveLength(3)
    expect(await counts()).toMatchObject({ contents: 1, recipients: 2 })
  })

  test('that somebody else has locked are left to the next run', async () => {
    const id = await seed({ expires: "now() - interval '1 second'" })
    await seed({ expires: "now() - interval '1 second'" })
    const lock: [string, unknown[]] = [
      'select from notification_recipients where notification_id = $1 for update',
      [id],
    ]
    await whileLocked(service.database.url, lock, () => runSchedule(service, 'notifications-expiry'))
    expect(await counts()).toMatchObject({ contents: 1, recipients: 1 })
    await runSchedule(service, 'notifications-expiry')
    expect(await counts()).toMatchObject({ contents: 0, recipients: 0 })
  })

  test('stay when the process ends', async () => {
    await seed({ expires: "now() - interval '1 second'" })
    const ended = AbortSignal.abort()
    for (const schedule of service.app.schedules.filter(({ name }) => name.startsWith('notification')))
      if (schedule.everyMs === 60_000) await schedule.run(ended)
    expect(await counts()).toMatchObject({ contents: 1, recipients: 1 })
  })
})

test('[comms.idempotency] keys go after their 24 hours', async () => {
  await seedKey(project, 'past', "now() - interval '1 second'")
  await seedKey(project, 'present', "now() + interval '1 second'")
  await run('notification-keys-expiry')
  expect(await counts()).toMatchObject({ keys: 1 })
})

describe('months', () => {
  test('[comms.retention] of contents and recipients go when the last of them is 90 days old, and are made ahead', async () => {
    const tables = ['notifications', 'notification_recipients']
    const months = async () => {
      const { rows } = await service.sql.query<{ name: string }>(
        `select inhrelid::regclass::text as name from pg_inherits
         where inhparent in ('notifications'::regclass, 'notification_recipients'::regclass) order by 1`,
      )
      return rows.map(({ name }) => name)
    }
    const before = await months()
    for (const table of tables)
      await service.sql.query(
        `create table ${table}_2020_01 partition of ${table}
         for values from ('2020-01-01 00:00:00+00') to ('2020-02-01 00:00:00+00')`,
      )
    await seed({ createdAt: "'2020-01-15T00:00:00Z'" })
    const next = before.findLast((name) => name.startsWith('notifications_')) ?? ''
    await service.sql.query(`drop table ${next}`)
    await run('notifications-months')
    await run('notification-recipients-months')
    expect(await months()).toEqual(before)
    expect(await counts()).toMatchObject({ contents: 0, recipients: 0 })
  })

  test('an emit makes the months that are not there yet', async () => {
    const { emit, targetFields, seedTenantMember } = await import('../../../test/kit/comms.ts')
    const { seedMachineUser } = await import('@manager/harness/seed.ts')
    const { token } = await seedMachineUser(service.sql, project)
    await seedTenantMember(service, project)
    const { rows } = await service.sql.query<{ name: string }>(
      `select inhrelid::regclass::text as name from pg_inherits
       where inhparent in ('notifications'::regclass, 'notification_recipients'::regclass)`,
    )
    for (const { name } of rows) await service.sql.query(`drop table ${name}`)
    expect(await emit(service, token, targetFields(project))).toMatchObject({
      status: 202,
      body: { recipient_count: 1 },
    })
    expect(await counts()).toMatchObject({ contents: 1, recipients: 1 })
  })
})

describe('when an application is no longer a tenant’s', () => {
  const remove = (place: SeededProject) =>
    service.sql.query('delete from tenant2applications where id = $1', [place.tenant2ApplicationId])
  const restore = (place: SeededProject) =>
    service.sql.query(
      'insert into tenant2applications (id, project_id, tenant_id, application_id, enabled) values ($1, $2, $3, $4, true)',
      [place.tenant2ApplicationId, place.id, place.tenantId, place.applicationId],
    )
  const aMinuteLater = () =>
    service.sql.query("update notification_erasures set requested_at = requested_at - interval '1 minute'")

  test('its notifications and keys are erased a minute later, those of others stay', async () => {
    await seed({ users: 3 })
    await seed({ place: other })
    await seedKey(project, 'own', "now() + interval '23 hours'")
    await seedKey(other, 'their', "now() + interval '23 hours'")
    await remove(project)
    await run('notifications-erasure')
    expect(await counts()).toEqual({ contents: 2, recipients: 4, keys: 2, erasures: 1 })
    await aMinuteLater()
    await run('notifications-erasure')
    expect(await counts()).toEqual({ contents: 1, recipients: 1, keys: 1, erasures: 0 })
    await restore(project)
  })

  test('what was written since it is the tenant’s again stays', async () => {
    await seed({})
    await seedKey(project, 'old', "now() + interval '23 hours'")
    await remove(project)
    await aMinuteLater()
    await restore(project)
    const kept = await seed({ createdAt: 'clock_timestamp()' })
    await seedKey(project, 'new', "clock_timestamp() + interval '24 hours'")
    await run('notifications-erasure')
    expect(await counts()).toEqual({ contents: 1, recipients: 1, keys: 1, erasures: 0 })
    const { rows } = await service.sql.query('select id from notifications')
    expect(rows).toEqual([{ id: kept }])
  })

  test('what an emit wrote while the row was being deleted goes too', async () => {
    await remove(project)
    await seed({ createdAt: "now() + interval '1 second'" })
    await aMinuteLater()
    await run('notifications-erasure')
    expect(await counts()).toEqual({ contents: 0, recipients: 0, keys: 0, erasures: 0 })
    await restore(project)
  })

  test('many rows go in parts, each of its own transaction', async () => {
    await seed({ users: 11_000 })
    await remove(project)
    await aMinuteLater()
    service.statements.length = 0
    await runSchedule(service, 'notifications-erasure')
    expect(
      service.statements.filter((text) => text.includes('delete from notification_recipients')),
    ).toHaveLength(3)
    expect(await counts()).toEqual({ contents: 0, recipients: 0, keys: 0, erasures: 0 })
    await restore(project)
  })
})
