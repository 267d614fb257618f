// These tests cover the number of statements that emits need, and the isolation of an emit that cannot be written.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  contentOf,
  emit,
  generousLimits,
  targetFields,
  recipientsOf,
  seedTenantMember,
} from '../../../test/kit/comms.ts'
import { waitForLockWait, whileLocked } from '../../../test/kit/locks.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedMachineUser } from '@manager/harness/seed.ts'
import { createMetrics } from '../../platform/metrics.ts'
import { createNotificationMetrics } from './notifications.metrics.ts'
import { readEmitInput } from './emit-input.pure.ts'
import { createEmitService } from './emit.service.ts'
import type { Hint } from '../live-sockets/hints.pure.ts'

const { service, admin, project, member } = useProject({ env: generousLimits })
let token: string
let reader: string
let chief: string
beforeAll(async () => {
  token = (await seedMachineUser(service.sql, project)).token
  reader = await seedTenantMember(service, project)
  chief = await seedTenantMember(service, project, 'admin')
})
const send = (body: object, key?: string) => emit(service, token, { ...targetFields(project), ...body }, key)
const writes = () => service.statements.filter((text) => text.includes('insert into notifications'))
const inFlight = async (): Promise<number | undefined> => {
  const metric = await service.world.metrics.registry.getSingleMetric('svc_http_inflight')?.get()
  return metric?.values[0]?.value
}
const addMembers = (count: number) =>
  service.sql.query(
    `with added as (
       insert into users (id, external_name, external_username, external_email, role)
       select gen_random_uuid(), 'many', gen_random_uuid()::text, gen_random_uuid()::text, 'user' from generate_series(1, $3)
       returning id)
     insert into user2tenants (id, project_id, tenant_id, user_id, role_name)
     select gen_random_uuid(), $1, $2, id, 'member' from added`,
    [project.id, project.tenantId, count],
  )

describe('statements', () => {
  test('[comms.emit] an emit is one statement after its authentication, and a repeated one two, whatever the recipients', async () => {
    const cost = async (body: object, key?: string) => {
      service.statements.length = 0
      expect(await send(body, key)).toMatchObject({ status: 202 })
      return service.statements.length
    }
    await addMembers(2_000)
    const { rows } = await service.sql.query<{ user_id: string }>(
      'select user_id from user2tenants where tenant_id = $1 limit 1000',
      [project.tenantId],
    )
    const thousand = rows.map(({ user_id }) => user_id)
    // In each process, the first emit for an application also verifies that the application belongs to the
    // project.
    expect(await cost({ recipients: [reader] })).toBe(3)
    for (const body of [
      { recipients: [reader] },
      { recipients: thousand },
      {},
      { roles: ['member', 'admin'] },
    ]) {
      const key = randomUUID()
      expect(await cost(body)).toBe(2)
      expect(await cost(body, key)).toBe(2)
      expect(await cost(body, key)).toBe(3)
    }
  })

  test('[comms.emit] 64 emits that come while one is written share the next statement', async () => {
    const lock: [string, unknown[]] = ['lock table notifications in exclusive mode', []]
    const answers = await whileLocked(service.database.url, lock, async (commit) => {
      service.statements.length = 0
      const sent = [send({ recipients: [reader] })]
      await waitForLockWait(service.sql)
      sent.push(...Array.from({ length: 64 }, () => send({ recipients: [reader, chief] }, randomUUID())))
      await expect.poll(inFlight, { timeout: 60_000 }).toBe(65)
      await commit()
      return Promise.all(sent)
    })
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]))
    expect(new Set(answers.map(({ body }) => body.notification_id)).size).toBe(65)
    expect(writes().length).toBeLessThanOrEqual(12)
    for (const { body } of answers)
      expect(await recipientsOf(service, body.notification_id)).toHaveLength(body.recipient_count)
  })
})

describe('an emit that the database refuses', () => {
  beforeAll(async () => {
    await service.sql.query(`
      create function refuse_poison() returns trigger language plpgsql as $$
      begin
        if new.title = 'poison' then raise exception 'refused'; end if;
        return new;
      end $$;
      create trigger refuse_poison before insert on notifications for each row execute function refuse_poison()`)
  })

  test('fails alone, and its key stays free', async () => {
    const key = randomUUID()
    const titles = Array.from({ length: 40 }, (_, n) => (n === 20 ? 'poison' : `fine ${n}`))
    const lock: [string, unknown[]] = ['lock table notifications in exclusive mode', []]
    const answers = await whileLocked(service.database.url, lock, async (commit) => {
      const sent = titles.map((title) =>
        send({ title, recipients: [reader] }, title === 'poison' ? key : randomUUID()),
      )
      await waitForLockWait(service.sql)
      await commit()
      return Promise.all(sent)
    })
    expect(answers.map(({ status }) => status)).toEqual(
      titles.map((title) => (title === 'poison' ? 500 : 202)),
    )
    const ids = answers.flatMap(({ body }) => (body.notification_id as string | undefined) ?? [])
    const kept = await Promise.all(ids.map((id) => contentOf(service, id)))
    expect(kept.map((content) => content?.title)).toEqual(titles.filter((title) => title !== 'poison'))
    const { rowCount } = await service.sql.query('select from notification_keys where key = $1', [key])
    expect(rowCount).toBe(0)
    expect(await send({ title: 'cured', recipients: [reader] }, key)).toMatchObject({ status: 202 })
  })
})

describe('the hint of an emit', () => {
  const hints: Hint[] = []
  const emitInProcess = (body: object, key: string | null = null) => {
    const { database, clock } = service.world
    const metrics = createNotificationMetrics(createMetrics('test'))
    const emits = createEmitService({
      db: database.db,
      database,
      clock,
      metrics,
      checkRate: () => Promise.resolve(),
      sendHint: (hint) => void hints.push(hint),
    })
    hints.length = 0
    const { id: projectId, applicationId, tenantId } = project
    const input = readEmitInput(body, key)
    return emits.emit({ projectId, applicationId, tenantId, input, requestId: 'r', bytes: 100 })
  }

  test('goes to whom the emit names and who got it, to roles, or to members, and holds no content', async () => {
    const staff = await member('staff', 'readonly')
    const { notificationId } = await emitInProcess({
      recipients: [reader, staff.id, randomUUID()],
      type: 'a.b',
      title: 'T',
      body: 'secret',
      severity: 'error',
    })
    expect(hints).toMatchObject([
      {
        tenantId: project.tenantId,
        applicationId: project.applicationId,
        audience: { users: [reader, staff.id].toSorted(), roles: [], members: false },
        mayDrop: false,
      },
    ])
    const { created_at } = (await contentOf(service, notificationId)) ?? {}
    expect(JSON.parse(hints[0]?.text ?? '')).toEqual({
      type: 'notification',
      id: notificationId,
      notification_type: 'a.b',
      title: 'T',
      severity: 'error',
      created_at: created_at?.toISOString(),
    })
    await emitInProcess({ roles: ['admin'] })
    expect(hints).toMatchObject([{ audience: { users: [], roles: ['admin'], members: false } }])
    await emitInProcess({ roles: ['admin'], recipients: [admin.id, randomUUID()] })
    expect(hints).toMatchObject([{ audience: { users: [admin.id], roles: ['admin'], members: false } }])
    await emitInProcess({})
    expect(hints).toMatchObject([{ audience: { users: [], roles: [], members: true } }])
  })

  test('[comms.idempotency] is not sent for nobody, nor again', async () => {
    await emitInProcess({ recipients: [randomUUID()] })
    expect(hints).toEqual([])
    const key = randomUUID()
    await emitInProcess({}, key)
    expect(hints).toHaveLength(1)
    await emitInProcess({}, key)
    expect(hints).toEqual([])
  })
})
