// These tests check that neither the emits of one project nor the marks of its users delay the emits of other
// projects.
import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { contentOf, emit, generousLimits, targetFields } from '../../../test/kit/comms.ts'
import { waitForLockWait, whileLocked } from '../../../test/kit/locks.ts'
import { useProject } from '../../../test/kit/project.ts'
import { type SeededProject, seedMachineUser, seedProject } from '@manager/harness/seed.ts'
import { createInboxService } from '../inbox/inbox.service.ts'

const { service, project } = useProject({ env: generousLimits })
let token: string
let other: SeededProject
let otherToken: string
beforeAll(async () => {
  token = (await seedMachineUser(service.sql, project)).token
  other = await seedProject(service.sql, 'other')
  otherToken = (await seedMachineUser(service.sql, other)).token
  for (const { id, tenantId } of [project, other])
    await service.sql.query(
      `with added as (
         insert into users (id, external_name, external_username, external_email, role)
         select gen_random_uuid(), 'many', gen_random_uuid()::text, gen_random_uuid()::text, 'user'
         from generate_series(1, 3000) returning id)
       insert into user2tenants (id, project_id, tenant_id, user_id, role_name)
       select gen_random_uuid(), $1, $2, id, 'member' from added`,
      [id, tenantId],
    )
})
const writes = () => service.statements.filter((text) => text.includes('insert into notifications')).length
const inFlight = async (): Promise<number | undefined> => {
  const metric = await service.world.metrics.registry.getSingleMetric('svc_http_inflight')?.get()
  return metric?.values[0]?.value
}
/** Counts the sessions that wait for locks. */
const waiting = async (): Promise<number | null> =>
  (
    await service.sql.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    )
  ).rowCount
const lock: [string, unknown[]] = ['lock table notifications in exclusive mode', []]

test('[comms.emit] projects take turns: what comes last is not written after all that another has waiting', async () => {
  const flood = Array.from({ length: 20 }, () => targetFields(project))
  expect(await emit(service, token, targetFields(project))).toMatchObject({ status: 202 })
  const { first, floods } = await whileLocked(service.database.url, lock, async (commit) => {
    const sent = flood.map((body) => emit(service, token, body))
    await waitForLockWait(service.sql)
    await expect.poll(inFlight, { timeout: 60_000 }).toBe(20)
    const late = emit(service, otherToken, targetFields(other))
    await expect.poll(inFlight, { timeout: 60_000 }).toBe(21)
    await commit()
    return { first: await late, floods: await Promise.all(sent) }
  })
  expect(first).toMatchObject({ status: 202, body: { recipient_count: 3000 } })
  const timeOf = async (id: string) => (await contentOf(service, id))?.created_at.getTime() ?? 0
  const own = await timeOf(first.body.notification_id)
  const times = await Promise.all(floods.map(({ body }) => timeOf(body.notification_id)))
  // Only emits whose statement was already running, and emits in the next statement, may have an earlier time than the
  // late emit.
  expect(times.filter((time) => time < own).length).toBeLessThanOrEqual(6)
})

test('an emit that is refused says nothing about the size of a tenant: large ones still go one by one', async () => {
  expect(await emit(service, token, targetFields(project))).toMatchObject({ status: 202 })
  const past = { ...targetFields(project), expires_at: '2001-01-01T00:00:00Z' }
  expect(await emit(service, token, past)).toMatchObject({ status: 400 })
  const foreign = { ...targetFields(other), tenant_id: project.tenantId }
  expect(await emit(service, otherToken, foreign)).toMatchObject({ status: 403 })
  await whileLocked(service.database.url, lock, async (commit) => {
    service.statements.length = 0
    const sent = Array.from({ length: 12 }, () => emit(service, token, targetFields(project)))
    await waitForLockWait(service.sql)
    await expect.poll(inFlight, { timeout: 60_000 }).toBe(12)
    await commit()
    for (const answer of sent) expect(await answer).toMatchObject({ status: 202 })
  })
  expect(writes()).toBe(12)
})

test('[comms.idempotency] a key of an emit that is still written makes nobody else wait, and gets 503 with Retry-After', async () => {
  await service.sql.query(`
    create function wait_if_slow() returns trigger language plpgsql as $$
    begin
      if new.title = 'slow' then perform pg_advisory_xact_lock(4711); end if;
      return new;
    end $$;
    create trigger wait_if_slow before insert on notifications for each row execute function wait_if_slow()`)
  const key = randomUUID()
  const named = { ...targetFields(project), recipients: [randomUUID()] }
  const hold: [string, unknown[]] = ['select pg_advisory_xact_lock(4711)', []]
  const slow = await whileLocked(service.database.url, hold, async (commit) => {
    const sent = emit(service, token, { ...targetFields(project), title: 'slow' }, key)
    await waitForLockWait(service.sql)
    const before = await waiting()
    const same = [1, 2, 3].map(() => emit(service, token, named, key))
    for (const answer of same) {
      expect(await answer).toMatchObject({ status: 503, body: { error: 'the key is in use; try again' } })
      expect((await answer).headers.get('retry-after')).toBe('1')
      expect(await waiting()).toBe(before)
    }
    await commit()
    return sent
  })
  expect(slow).toMatchObject({ status: 202 })
  expect(await emit(service, token, { ...targetFields(project), title: 'slow' }, key)).toMatchObject({
    status: 202,
    body: slow.body,
  })
  expect(await emit(service, token, named, key)).toMatchObject({ status: 422 })
})

test('[comms.read] marks leave a connection to emits, and those of one user wait in bounds', async () => {
  const { database } = service.world
  const inbox = createInboxService({ database, retentionDays: 90, sendHint: () => undefined })
  const { tenantId, applicationId } = project
  expect(await emit(service, token, targetFields(project))).toMatchObject({ status: 202 })
  const { rows } = await service.sql.query<{ user_id: string; notification_id: string }>(
    'select user_id, notification_id from notification_recipients where tenant_id = $1 limit 1',
    [tenantId],
  )
  const [row] = rows
  if (row === undefined) throw new Error('nobody was notified')
  const mark = () =>
    inbox
      .mark(
        { tenantId, applicationId, userId: row.user_id },
        { mark: 'read', marked: { ids: [row.notification_id] }, connectionId: null },
      )
      .catch(({ code }: { code: string }) => code)
  const hold: [string, unknown[]] = [
    'select from notification_recipients where notification_id = $1 for update',
    [row.notification_id],
  ]
  const marked = await whileLocked(service.database.url, hold, async (commit) => {
    const sent = Array.from({ length: 1_010 }, mark)
    await waitForLockWait(service.sql)
    expect(await waiting()).toBe(1)
    const named = { ...targetFields(other), recipients: [randomUUID()] }
    expect(await emit(service, otherToken, named)).toMatchObject({ status: 202 })
    await commit()
    return Promise.all(sent)
  })
  const countOf = (result: number | string) => marked.filter((one) => one === result).length
  expect([countOf(1), countOf(0), countOf('unavailable')]).toEqual([1, 1_000, 9])
})
