// These tests cover the counts of notifications: emits through the route for backends, and marks through the inbox.
import { beforeEach, describe, expect, test } from 'vitest'
import { emit, generousLimits, seedTenantMember, targetFields } from '../../../test/kit/comms.ts'
import { inboxCalls, seedNotifications } from '../../../test/kit/inbox.ts'
import { useProject } from '../../../test/kit/project.ts'
import { runSchedule } from '../../../test/kit/schedules.ts'
import type { Person } from '@manager/harness/callers.ts'
import {
  type SeededProject,
  seedMachineUser,
  seedMember,
  seedProject,
  seedUser,
} from '@manager/harness/seed.ts'

const { service, admin, other } = useProject({ withOther: true, env: generousLimits })
const { read, seen } = inboxCalls(() => service)

const dayMs = 86_400_000
const today = (): string => new Date(Math.floor(Date.now() / dayMs) * dayMs).toISOString()

let project: SeededProject
let token: string
let people: string[]
let count = 0
beforeEach(async () => {
  project = await seedProject(service.sql, `notes-${++count}`)
  token = (await seedMachineUser(service.sql, project)).token
  people = [await seedTenantMember(service, project), await seedTenantMember(service, project)]
})
const send = async (body: object, key?: string): Promise<string> => {
  const answer = await emit(service, token, { ...targetFields(project), title: 'x', ...body }, key)
  expect(answer.status).toBe(202)
  return answer.body.notification_id as string
}
const addUp = (): Promise<void> => runSchedule(service, 'notification-counts')

type Arguments = { by?: Person; from?: string; to?: string }
const countsOf = ({ applicationId }: SeededProject, { by = admin, ...bounds }: Arguments = {}) =>
  service.query(
    by,
    `query($applicationId: ID!, $from: String!, $to: String!) {
      days: notificationDeliveryCounts(applicationId: $applicationId, from: $from, to: $to) {
        day emitted recipients seen read } }`,
    {
      applicationId,
      from: new Date(Date.now() - 5 * dayMs).toISOString(),
      to: new Date(Date.now() + dayMs).toISOString(),
      ...bounds,
    },
  )
async function daysOf(...args: Parameters<typeof countsOf>): Promise<Record<string, unknown>[]> {
  const { data, error } = await countsOf(...args)
  expect(error).toBeNull()
  return data.days as Record<string, unknown>[]
}

describe('notificationDeliveryCounts', () => {
  test('[comms.counts] counts emits and their recipients; a repeated emit counts once', async () => {
    const [first = '', second = ''] = people
    await send({})
    await send({ recipients: [first] }, 'once')
    await send({ recipients: [first] }, 'once')
    await Promise.all(Array.from({ length: 20 }, () => send({ recipients: [first, second] })))
    expect(await daysOf(project)).toEqual([])
    await Promise.all([addUp(), addUp()])
    await addUp()
    const expected = { day: today(), emitted: 22, recipients: 43, seen: 0, read: 0 }
    expect(await daysOf(project)).toEqual([expected])
    expect(await daysOf(other)).toEqual([])
    const { rows } = await service.sql.query('select from notification_count_changes')
    expect(rows).toEqual([])
  })

  test('[comms.counts] counts each mark once, on the day of the notification, and what is read as seen', async () => {
    const [first = '', second = ''] = people
    const ids: string[] = []
    for (let index = 0; index < 4; index++) ids.push(await send({}))
    const [one = '', two = '', three = ''] = ids
    const mark = { seen: await seen(project, { id: first }, { ids: [one, two] }) }
    expect(mark.seen.body.updated).toBe(2)
    // One of the two rows was already seen.
    expect((await read(project, { id: first }, { ids: [two, three] })).body.updated).toBe(2)
    expect((await read(project, { id: first }, { ids: [two, three] })).body.updated).toBe(0)
    expect((await seen(project, { id: first }, { ids: [three] })).body.updated).toBe(0)
    expect((await read(project, { id: second }, { all: true })).body.updated).toBe(4)
    await addUp()
    const [day] = await daysOf(project)
    const { rows } = await service.sql.query<{ seen: number; read: number }>(
      `select count(seen_at)::int as seen, count(read_at)::int as read from notification_recipients
       where application_id = $1`,
      [project.applicationId],
    )
    expect(day).toMatchObject({ emitted: 4, recipients: 8, seen: 7, read: 6 })
    expect(rows[0]).toEqual({ seen: 7, read: 6 })
  })

  test('[comms.counts] marks in the same millisecond, and after the clock was set back, count correctly', async () => {
    const [first = ''] = people
    const ids: string[] = []
    for (let index = 0; index < 3; index++) ids.push(await send({ recipients: [first] }))
    // The first row has a `seen` time in the future, as if the database clock had been set back.
    await service.sql.query(
      "update notification_recipients set seen_at = now() + interval '1 hour' where notification_id = $1",
      [ids[0]],
    )
    await Promise.all([seen(project, { id: first }, { ids }), read(project, { id: first }, { ids })])
    await addUp()
    // Two `seen` marks are counted; the first row was marked directly in the database.
    expect(await daysOf(project)).toMatchObject([{ emitted: 3, seen: 2, read: 3 }])
  })

  test('[comms.counts] marks of earlier days count there; days before counting started are omitted', async () => {
    const [first = ''] = people
    const yesterday = new Date(Date.now() - dayMs)
    const [id = ''] = await seedNotifications(service.sql, project, [{ id: first }], [{ at: yesterday }])
    expect((await read(project, { id: first }, { ids: [id] })).body.updated).toBe(1)
    await addUp()
    expect(await daysOf(project)).toEqual([])
    await service.sql.query('update notification_counts set emitted = 1, recipients = 1')
    const day = new Date(Math.floor(yesterday.getTime() / dayMs) * dayMs).toISOString()
    expect(await daysOf(project)).toEqual([{ day, emitted: 1, recipients: 1, seen: 1, read: 1 }])
    expect(await daysOf(project, { from: today() })).toEqual([])
  })

  test('[comms.counts] are deleted with the application, and after the retention period', async () => {
    await send({})
    await addUp()
    const left = async (): Promise<number> => {
      const { rows } = await service.sql.query('select from notification_counts where application_id = $1', [
        project.applicationId,
      ])
      return rows.length
    }
    expect(await left()).toBe(1)
    await service.sql.query(
      `insert into notification_counts (project_id, application_id, day, emitted, recipients, seen, read)
       values ($1, $2, now() - interval '1000 days', 1, 1, 1, 1)`,
      [project.id, project.applicationId],
    )
    await runSchedule(service, 'notification-counts-retention')
    expect(await left()).toBe(1)
    await send({})
    await service.sql.query('delete from applications where id = $1', [project.applicationId])
    await addUp()
    expect(await left()).toBe(0)
    const { rows } = await service.sql.query('select from notification_count_changes')
    expect(rows).toEqual([])
  })
})

describe('arguments and rights', () => {
  test('[comms.counts] developers read the counts; testers, members of the tenant and strangers do not', async () => {
    const caller = async (role: string, at: object): Promise<Person> => {
      const added = await seedUser(service.sql, `${role}-${count}`)
      await seedMember(service.sql, added, role, { projectId: project.id, ...at })
      return added
    }
    expect((await countsOf(project, { by: await caller('developer', {}) })).error).toBeNull()
    const { error } = await countsOf(project, { by: await caller('tester', {}) })
    expect(error).not.toBeNull()
    expect(error).not.toContain('not found')
    const tenant = { tenantId: project.tenantId }
    expect((await countsOf(project, { by: await caller('admin', tenant) })).error).toBe(
      'application not found',
    )
    const stranger = await seedUser(service.sql, `stranger-${count}`)
    expect((await countsOf(project, { by: stranger })).error).toBe('application not found')
  })

  test('[comms.counts] the range is bounded', async () => {
    const range = { from: '2026-01-01T00:00:00Z', to: '2026-02-01T00:00:01Z' }
    expect((await countsOf(project, range)).error).toContain('at most 31 days apart')
  })
})
