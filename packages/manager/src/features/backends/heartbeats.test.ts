import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  backdateHeartbeat,
  callbackUrl,
  heartbeat,
  register,
  readStoredBackend,
} from '@manager/harness/backends.ts'
import { runSchedule } from '../../../test/kit/schedules.ts'
import { waitForLockWait, whileLocked } from '../../../test/kit/locks.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedMachineUser } from '@manager/harness/seed.ts'

const { service, project } = useProject()

const machine = () => seedMachineUser(service.sql, project)
async function backend() {
  const { id: machineUserId, token } = await machine()
  const body = { application_id: project.applicationId, callback_url: callbackUrl, version: '1' }
  const answer = await register(service, token, body)
  return { id: answer.body.registered_id as string, token, machineUserId }
}
const updates = () => service.statements.filter((text) => text.includes('update backend_registrations'))

describe('PUT /api/machine/backend/:id/heartbeat', () => {
  test('[backends.heartbeat] moves the last heartbeat, and nothing else', async () => {
    const { id, token } = await backend()
    await backdateHeartbeat(service, id, '50 seconds')
    const { last_heartbeat: before, ...rest } = (await readStoredBackend(service, id)) ?? {}
    const answer = await heartbeat(service, token, id.toUpperCase())
    expect([answer.status, answer.body]).toEqual([
      200,
      { success: true, registered_id: id, message: 'Heartbeat received' },
    ])
    const { last_heartbeat: after, ...same } = (await readStoredBackend(service, id)) ?? {}
    expect(Number(after)).toBeGreaterThan(Number(before) + 40_000)
    expect(same).toEqual(rest)
  })

  test('[backends.heartbeat-errors] an unknown id and one that is no UUID answer 404', async () => {
    const { token } = await backend()
    for (const id of [randomUUID(), 'no-uuid', '%00', 'x'.repeat(500)]) {
      const { status, body } = await heartbeat(service, token, id)
      expect([id, status, body]).toMatchObject([
        id,
        404,
        { success: false, message: 'Backend registration not found' },
      ])
    }
  })

  test("[backends.heartbeat-errors] another machine user's registration answers 403 and does not move", async () => {
    const [ann, bob] = [await backend(), await backend()]
    await backdateHeartbeat(service, ann.id, '50 seconds')
    const before = await readStoredBackend(service, ann.id)
    const { status, body } = await heartbeat(service, bob.token, ann.id)
    expect([status, body]).toMatchObject([
      403,
      { success: false, message: 'The backend registration belongs to another machine user' },
    ])
    expect(await readStoredBackend(service, ann.id)).toEqual(before)
  })

  test('many at once share few statements, and each is answered for itself', async () => {
    const [ann, bob] = [await backend(), await backend()]
    const beats: [string, string, number][] = Array.from({ length: 25 }, () => [
      [ann.token, ann.id, 200] as [string, string, number],
      [bob.token, bob.id, 200] as [string, string, number],
      [bob.token, ann.id, 403] as [string, string, number],
      [ann.token, randomUUID(), 404] as [string, string, number],
    ]).flat()
    service.statements.length = 0
    const began = performance.now()
    const statuses = await Promise.all(
      beats.map(async ([token, id]) => (await heartbeat(service, token, id)).status),
    )
    expect(statuses).toEqual(beats.map(([, , status]) => status))
    // A busy machine can take a long time to send 100 requests. Each statement starts at least 300 ms after the
    // previous one.
    expect(updates().length).toBeLessThanOrEqual(2 + (performance.now() - began) / 300)
  })

  test('a row that somebody has locked holds up its own heartbeat alone', async () => {
    const [locked, free, other] = [await backend(), await backend(), await backend()]
    await backdateHeartbeat(service, locked.id, '50 seconds')
    const lock = 'select from backend_registrations where id = $1 for update'
    await whileLocked(service.database.url, [lock, [locked.id]], async (commit) => {
      // Heartbeats that arrive just after a statement wait, so these three share the next statement.
      await heartbeat(service, free.token, free.id)
      let isAnswered = false
      const waiting = heartbeat(service, locked.token, locked.id).finally(() => (isAnswered = true))
      const others = [other, free].map(({ token, id }) => heartbeat(service, token, id))
      expect((await Promise.all(others)).map(({ status }) => status)).toEqual([200, 200])
      expect(isAnswered).toBe(false)
      await commit()
      expect((await waiting).status).toBe(200)
    })
    const { rows } = await service.sql.query(
      "select last_heartbeat > now() - interval '40 seconds' as moved from backend_registrations where id = $1",
      [locked.id],
    )
    expect(rows).toEqual([{ moved: true }])
  })

  test('one that meets the end of its registration is answered 404', async () => {
    const { id, token } = await backend()
    const end = 'delete from backend_registrations where id = $1'
    await whileLocked(service.database.url, [end, [id]], async (commit) => {
      const answer = heartbeat(service, token, id)
      await waitForLockWait(service.sql)
      await commit()
      expect((await answer).status).toBe(404)
    })
  })

  test('is counted by what it met', async () => {
    const [ann, bob] = [await backend(), await backend()]
    const counts = async () => {
      const text = await service.world.metrics.registry.getSingleMetricAsString('svc_heartbeats_total')
      return Object.fromEntries(
        [...text.matchAll(/outcome="(\w+)"\} (\d+)/g)].map(([, name, count]) => [name, Number(count)]),
      ) as Record<'accepted' | 'unknown' | 'foreign', number>
    }
    const before = await counts()
    await heartbeat(service, ann.token, ann.id)
    await heartbeat(service, ann.token, bob.id)
    await heartbeat(service, ann.token, 'no-uuid')
    const after = await counts()
    expect(after).toEqual({
      accepted: before.accepted + 1,
      unknown: before.unknown + 1,
      foreign: before.foreign + 1,
    })
  })
})

describe('reception', () => {
  type Noted = { seconds: number; outage: number; received: number }
  /** Returns the duration of the last outage, the time since its end, and the time since the last record. */
  const noted = async (): Promise<Noted> =>
    (
      await service.sql.query<Noted>(
        `select extract(epoch from outage_until - outage_from)::int as seconds,
           extract(epoch from now() - outage_until)::int as outage,
           extract(epoch from now() - received_until)::int as received from heartbeat_reception`,
      )
    ).rows[0] as Noted
  const receivedUntil = (ago: string) =>
    service.sql.query(
      `update heartbeat_reception set received_until = now() - $1::interval,
         outage_from = now() - interval '3 days', outage_until = now() - interval '3 days'`,
      [ago],
    )
  beforeEach(() => receivedUntil('0'))

  test('a pause of a few seconds between two notes is none', async () => {
    await receivedUntil('20 seconds')
    await runSchedule(service, 'heartbeat-reception')
    const { seconds, received } = await noted()
    expect(seconds).toBe(0)
    expect(received).toBeLessThan(20)
  })

  test('a longer one is an outage, noted once by however many processes', async () => {
    await receivedUntil('1000 seconds')
    await Promise.all(Array.from({ length: 5 }, () => runSchedule(service, 'heartbeat-reception')))
    const { seconds, outage } = await noted()
    expect(seconds).toBeGreaterThanOrEqual(1_000)
    expect(outage).toBeLessThan(900)
    await runSchedule(service, 'heartbeat-reception')
    expect((await noted()).seconds).toBe(seconds)
  })

  test('is noted by processes with role api, reaping is done by those with role jobs', () => {
    const roles = service.app.schedules.map(({ name, role }) => [name, role ?? 'jobs'])
    expect(roles).toContainEqual(['heartbeat-reception', 'api'])
    expect(roles).toContainEqual(['backends-reap', 'jobs'])
  })
})
