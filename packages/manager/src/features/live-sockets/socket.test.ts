// These tests cover the admission of WebSockets, and hints.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { liveHint, publishFromOtherProcess } from '../../../test/kit/hints.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedMember, seedTenant } from '@manager/harness/seed.ts'
import { type Seat, type TestSocket, openSocket } from '../../../test/kit/sockets.ts'
import { buildMarkFrame } from '../inbox/mark-text.pure.ts'
import { buildNotificationFrame } from '../notifications/hint-texts.pure.ts'
import type { Hint } from './hints.pure.ts'

const { service, project, other, admin, person, member: staff } = useProject({ withOther: true })

const seatOf = ({ id }: Person): Seat => ({
  userId: id,
  tenantId: project.tenantId,
  applicationId: project.applicationId,
})
const inTenant = async (name: string, role = 'member'): Promise<Seat> => {
  const somebody = await person(name)
  await seedMember(service.sql, somebody, role, { projectId: project.id, tenantId: project.tenantId })
  return seatOf(somebody)
}
const open = async (seat: Seat): Promise<TestSocket> => {
  const socket = openSocket(service.url, seat)
  await socket.hello
  return socket
}
const closeCode = (seat: Seat): Promise<number> => openSocket(service.url, seat).closed
const close = async (...sockets: TestSocket[]): Promise<void> => {
  for (const { client } of sockets) client.close()
  await Promise.all(sockets.map(({ closed }) => closed))
}
const tell = (hint: Partial<Hint>): void =>
  publishFromOtherProcess(service, { ...liveHint(project), mayDrop: false, ...hint })
/**
 * Counts the mark hints that `toldBefore` sends to everyone. `toldBefore` returns, for each socket, the frames that it
 * received before its mark hint.
 */
let marks = 0
const toldBefore = async (sockets: TestSocket[]): Promise<unknown[][]> => {
  const mark = `mark ${++marks}`
  for (const place of [project, other]) publishFromOtherProcess(service, liveHint(place, mark))
  await expect.poll(() => sockets.every(({ frames }) => frames.some(({ data }) => data === mark))).toBe(true)
  return sockets.map(({ frames }) => frames.slice(1).filter(({ data }) => data !== mark))
}

describe('a socket', () => {
  test('begins with hello, behind the gate, for the user and tenant that the proxy names [websocket.upgrade] [websocket.hello]', async () => {
    const socket = await open(await inTenant('ann'))
    expect(socket.frames).toEqual([
      {
        type: 'hello',
        connection_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f-]{27}$/),
        server_time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        ping_interval: 25,
        unread: false,
        reconnect_jitter_ms: 5_000,
      },
    ])
    expect(Math.abs(Date.parse(String(socket.frames[0]?.['server_time'])) - Date.now())).toBeLessThan(60_000)
    await close(socket)
  })

  test('says whether something visible is unread', async () => {
    const seat = await inTenant('unread')
    const add = (columns: { readAt?: string; expiresAt?: string; ageDays?: number }) =>
      service.sql.query(
        `insert into notification_recipients (tenant_id, application_id, user_id, created_at, notification_id, read_at, expires_at)
         values ($1, $2, $3, now() - $4::int * interval '1 day', gen_random_uuid(), $5, $6)`,
        [
          seat.tenantId,
          seat.applicationId,
          seat.userId,
          columns.ageDays ?? 0,
          columns.readAt ?? null,
          columns.expiresAt ?? null,
        ],
      )
    const unread = async (): Promise<unknown> => {
      const socket = await open(seat)
      await close(socket)
      return socket.frames[0]?.['unread']
    }
    await add({ readAt: '2026-01-01' })
    await add({ expiresAt: '2020-01-01' })
    expect(await unread()).toBe(false)
    await add({ expiresAt: '2999-01-01' })
    expect(await unread()).toBe(true)
  })

  test('is one line in the log when it opens, and no request in flight', async () => {
    service.logLines.length = 0
    const socket = await open(await inTenant('logged'))
    const line = () => service.logLines.find(({ route }) => String(route).endsWith('/ws'))
    await expect.poll(line).toMatchObject({ status: '101', actor: expect.any(String) })
    expect(line()).not.toHaveProperty('aborted')
    const metrics = await service.world.metrics.registry.metrics()
    expect(metrics).toMatch(/^svc_http_inflight 0$/m)
    expect(metrics).toMatch(/^svc_ws_connections 1$/m)
    await close(socket)
    await expect.poll(async () => service.world.metrics.registry.metrics()).toMatch(/^svc_ws_connections 0$/m)
  })
})

describe('who has the application in the tenant', () => {
  test('gets in: members in a role with apps.read, staff, administrators; all others are closed with 4500', async () => {
    await service.sql.query(
      `insert into tenant_role_definitions (id, project_id, tenant_id, name, permissions)
       values (gen_random_uuid(), $1, $2, 'watcher', '{members}')`,
      [project.id, project.tenantId],
    )
    const welcome = [await inTenant('bea'), seatOf(await staff('carl', 'readonly')), seatOf(admin)]
    await close(...(await Promise.all(welcome.map(open))))
    const stranger = seatOf(await person('dora'))
    const member = welcome[0] as Seat
    const refused = {
      stranger,
      watcher: await inTenant('emil', 'watcher'),
      'an unknown user': { ...stranger, userId: randomUUID() },
      'an unknown tenant': { ...member, tenantId: randomUUID() },
      "another project's tenant": { ...member, tenantId: other.tenantId },
      'an unknown application': { ...member, applicationId: randomUUID() },
      "another project's application": { ...member, applicationId: other.applicationId },
      'no application at all': { ...member, applicationId: 'not-a-uuid' },
      'an administrator where nothing is enabled': { ...seatOf(admin), applicationId: other.applicationId },
    }
    for (const [who, seat] of Object.entries(refused))
      expect([who, await closeCode(seat)]).toEqual([who, 4500])
  })

  test('does not get in where the application is disabled for the tenant', async () => {
    const seat = await inTenant('fay')
    const enable = (enabled: boolean) =>
      service.sql.query('update tenant2applications set enabled = $2 where id = $1', [
        project.tenant2ApplicationId,
        enabled,
      ])
    await enable(false)
    expect(await closeCode(seat)).toBe(4500)
    await enable(true)
    await close(await open(seat))
  })

  test('has ten sockets, an eleventh ends with 4501; those of other users and applications do not count [websocket.close-too-many]', async () => {
    const seat = await inTenant('gus')
    const sockets = await Promise.all(Array.from({ length: 10 }, () => open(seat)))
    expect(await closeCode(seat)).toBe(4501)
    const another = await open(await inTenant('hal'))
    const [first, ...rest] = sockets as [TestSocket, ...TestSocket[]]
    await close(first)
    const again = await open(seat)
    expect(await closeCode(seat)).toBe(4501)
    await close(again, another, ...rest)
  })
})

describe('a hint', () => {
  test('of a notification reaches its users and nobody else, in any tenant or application [websocket.notification]', async () => {
    const [ann, bob] = [await inTenant('ann-2'), await inTenant('bob-2')]
    const away = { ...ann, tenantId: other.tenantId, applicationId: other.applicationId }
    await seedMember(service.sql, { id: ann.userId }, 'member', {
      projectId: other.id,
      tenantId: other.tenantId,
    })
    const sockets = await Promise.all([ann, ann, bob, away].map(open))
    const text = buildNotificationFrame({
      id: 'an-id',
      type: 'orders.late',
      title: 'Late',
      severity: 'warning',
      createdAt: '2026-01-01T00:00:00.000Z',
    })
    tell({ audience: { users: [ann.userId, ann.userId], roles: [], members: false }, text })
    const expected = {
      type: 'notification',
      id: 'an-id',
      notification_type: 'orders.late',
      title: 'Late',
      severity: 'warning',
      created_at: '2026-01-01T00:00:00.000Z',
    }
    expect(await toldBefore(sockets)).toEqual([[expected], [expected], [], []])
    await close(...sockets)
  })

  test('reaches members, holders of roles, or both with users, each once', async () => {
    const [plain, boss] = [await inTenant('ivy'), await inTenant('jon', 'admin')]
    const helper = seatOf(await staff('kim', 'developer'))
    const sockets = await Promise.all([plain, boss, helper].map(open))
    const reached = async (audience: Hint['audience']): Promise<number[]> => {
      for (const { frames } of sockets) frames.splice(1)
      tell({ audience })
      return (await toldBefore(sockets)).map(({ length }) => length)
    }
    expect(await reached({ users: [], roles: [], members: true })).toEqual([1, 1, 0])
    expect(await reached({ users: [], roles: ['admin'], members: false })).toEqual([0, 1, 0])
    expect(await reached({ users: [helper.userId, boss.userId], roles: ['admin'], members: false })).toEqual([
      0, 1, 1,
    ])
    expect(await reached({ users: [], roles: [], members: false })).toEqual([0, 0, 0])
    expect(await reached({ everyone: true })).toEqual([1, 1, 1])
    await close(...sockets)
  })

  test("of a mark reaches the user's other sockets [websocket.marks]", async () => {
    const seat = await inTenant('leo')
    const sockets = await Promise.all([open(seat), open(seat)])
    const exceptConnection = String(sockets[0]?.frames[0]?.['connection_id'])
    const audience = { users: [seat.userId], roles: [], members: false }
    tell({ audience, text: buildMarkFrame('read', { all: true }), exceptConnection })
    tell({ audience, text: buildMarkFrame('seen', { ids: ['one'] }), exceptConnection })
    expect(await toldBefore(sockets)).toEqual([
      [],
      [
        { type: 'notification.read', all: true },
        { type: 'notification.seen', ids: ['one'] },
      ],
    ])
    await close(...sockets)
  })

  test('of live data reaches everyone in the tenant and application, and no other [websocket.live]', async () => {
    const mia = await inTenant('mia')
    const tenantId = randomUUID()
    await seedTenant(service.sql, project.id, tenantId, `second-${tenantId.slice(0, 8)}`)
    await service.sql.query(
      'insert into tenant2applications (id, project_id, tenant_id, application_id, enabled) values (gen_random_uuid(), $1, $2, $3, true)',
      [project.id, tenantId, project.applicationId],
    )
    const elsewhere = { ...seatOf(admin), tenantId }
    const sockets = await Promise.all([mia, seatOf(admin), elsewhere].map(open))
    tell({})
    const live = { type: 'live', topic: 't', data: 1, published_at: '2026-01-01T00:00:00.000Z' }
    publishFromOtherProcess(service, liveHint(elsewhere, 'last'))
    await expect.poll(() => sockets[2]?.framesWithoutPings().length).toBe(2)
    expect(sockets[2]?.frames[1]).toMatchObject({ data: 'last' })
    expect(await toldBefore(sockets.slice(0, 2))).toEqual([[live], [live]])
    await close(...sockets)
  })

  test('comes after hello, in the order in which hints were sent, whenever the socket was opened', async () => {
    const seat = await inTenant('noa')
    const first = await open(seat)
    let sent = 0
    const sockets: TestSocket[] = [first]
    // A busy machine opens the last sockets late, so hints are sent until each socket has received one.
    const isOver = (round: number): boolean => round >= 20 && sockets.every(({ frames }) => frames.length > 1)
    for (let round = 0; round < 5_000 && !isOver(round); round++) {
      if (round % 3 === 0 && sockets.length < 8) sockets.push(openSocket(service.url, seat))
      for (let i = 0; i < 5; i++) publishFromOtherProcess(service, liveHint(project, sent++))
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    for (const { frames } of sockets) {
      await expect.poll(() => frames.at(-1)?.['data']).toBe(sent - 1)
      const [hello, ...rest] = frames
      expect(hello?.type).toBe('hello')
      const numbers = rest.map(({ data }) => Number(data))
      // No hint is missing after the first one that a socket receives.
      expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, i) => sent - numbers.length + i))
    }
    expect(first.frames).toHaveLength(sent + 1)
    await close(...sockets)
  })
})
