// These tests cover emits whose commit status is unknown, and emits that exceed the capacity of the queue.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import {
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

const { service, project } = useProject({ env: generousLimits })
let token: string
let reader: string
beforeAll(async () => {
  token = (await seedMachineUser(service.sql, project)).token
  reader = await seedTenantMember(service, project)
})
const lock: [string, unknown[]] = ['lock table notifications in exclusive mode', []]

/** Terminates the connections that wait to write notifications. */
const end = () =>
  service.sql.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock' and query like '%with judged as%'`,
  )

describe('a connection that breaks while notifications are written', () => {
  test('[comms.emit] [comms.idempotency] answers 503 with Retry-After, and the same key then gets the one right answer', async () => {
    const bodies = [{ recipients: [reader] }, {}, { roles: ['member'] }].map((to) => ({
      key: randomUUID(),
      body: { ...targetFields(project), ...to },
    }))
    const send = () => Promise.all(bodies.map(({ key, body }) => emit(service, token, body, key)))
    const broken = await whileLocked(service.database.url, lock, async (commit) => {
      const sent = send()
      const ended = sent.then(() => true)
      await waitForLockWait(service.sql)
      const isOver = () => Promise.race([ended, end().then(() => false)])
      while (!(await isOver()));
      await commit()
      return sent
    })
    for (const answer of broken) {
      expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } })
      expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
    }
    const answers = await send()
    for (const { status, body } of [...answers, ...(await send())]) {
      expect([status, body.recipient_count]).toEqual([202, 1])
      expect(await recipientsOf(service, body.notification_id)).toEqual([reader])
    }
    const { rows } = await service.sql.query('select count(*)::int as count from notifications')
    expect(rows).toEqual([{ count: 3 }])
  })

  test('[comms.idempotency] once costs an emit with a key nothing; one without is told that it may have been sent', async () => {
    const body = { ...targetFields(project), recipients: [reader] }
    const cutOnce = (key?: string) =>
      whileLocked(service.database.url, lock, async (commit) => {
        const sent = emit(service, token, body, key)
        await waitForLockWait(service.sql)
        await end()
        await commit()
        return sent
      })
    const [keyed, bare] = [await cutOnce(randomUUID()), await cutOnce()]
    expect([keyed.status, keyed.body.recipient_count]).toEqual([202, 1])
    expect(await recipientsOf(service, keyed.body.notification_id)).toEqual([reader])
    expect(bare.status).toBe(503)
    expect(bare.body.error).toContain('may or may not have been applied')
  })
})

describe('what waits to be written', () => {
  const sender = () => {
    const { database, clock } = service.world
    const emits = createEmitService({
      db: database.db,
      database,
      clock,
      metrics: createNotificationMetrics(createMetrics('test')),
      checkRate: () => Promise.resolve(),
      sendHint: () => undefined,
    })
    const { id, applicationId, tenantId } = project
    const input = readEmitInput({ recipients: [reader] }, null)
    return (bytes: number, projectId = id) =>
      emits.emit({ projectId, applicationId, tenantId, input, requestId: 'r', bytes }).then(
        () => 202,
        (error: { status: number }) => error.status,
      )
  }

  test('is bounded: 64 MiB, an eighth of it for projects that have nothing waiting; more gets 503', async () => {
    const sendBytes = sender()
    const send = (mebibytes: number, projectId?: string) => sendBytes(mebibytes * 1_048_576, projectId)
    const held = await whileLocked(service.database.url, lock, async (commit) => {
      const waiting = [send(40)]
      await waitForLockWait(service.sql)
      await expect(send(17)).resolves.toBe(503)
      waiting.push(send(16), send(1, randomUUID()))
      await commit()
      return Promise.all(waiting)
    })
    expect(held).toEqual([202, 202, 403])
    expect(await send(32)).toBe(202)
  })
  test('leaves room for the others, however small the emits of a project are', async () => {
    const send = sender()
    const held = await whileLocked(service.database.url, lock, async (commit) => {
      const waiting = Array.from({ length: 10_000 }, () => send(1))
      const other = send(1, randomUUID())
      await commit()
      return { own: await Promise.all(waiting), other: await other }
    })
    expect(held.other).toBe(403)
    expect(held.own.filter((status) => status === 202).length).toBeGreaterThan(7_000)
  })
})
