// These tests cover marks: read and seen rows, repeated marks, and the hints that a mark sends. A hint is a
// best-effort message to open sockets.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { v7 } from 'uuid'
import { inboxCalls, recipientRows, seedNotifications } from '../../../test/kit/inbox.ts'
import { waitForLockWait } from '../../../test/kit/locks.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedMember } from '@manager/harness/seed.ts'
import type { Hint } from '../live-sockets/hints.pure.ts'
import { createInboxService } from './inbox.service.ts'

const { service, project, person } = useProject()
const { list, unread, read, seen } = inboxCalls(() => service)

/** Creates a user with access to the application in the tenant. */
async function reader(name: string) {
  const added = await person(name)
  await seedMember(service.sql, added, 'member', { projectId: project.id, tenantId: project.tenantId })
  return added
}
const many = (count: number, one: object = {}): object[] => Array.from({ length: count }, () => one)
const rowsOf = (who: { id: string }) => recipientRows(service.sql, project, who)

describe('read', () => {
  test('[comms.read] marks the ids of the caller, and as seen what was not seen; the first time stays', async () => {
    const anna = await reader('anna')
    const seenAt = new Date('2026-01-02T03:04:05.678Z')
    const ids = await seedNotifications(service.sql, project, [anna], [{}, { seenAt }, {}])
    const [first = '', second = '', third = ''] = ids
    expect(await read(project, anna, { ids: [first, second] })).toMatchObject({
      status: 200,
      body: { updated: 2 },
    })
    const rows = await rowsOf(anna)
    expect(rows).toEqual([
      { id: third, readAt: null, seenAt: null },
      { id: second, readAt: expect.any(Date), seenAt },
      { id: first, readAt: expect.any(Date), seenAt: expect.any(Date) },
    ])
    expect((await read(project, anna, { ids })).body).toEqual({ updated: 1 })
    expect((await read(project, anna, { ids })).body).toEqual({ updated: 0 })
    expect((await seen(project, anna, { ids })).body).toEqual({ updated: 0 })
    expect((await rowsOf(anna)).slice(1)).toEqual(rows.slice(1))
    const { body } = await list(project, anna)
    expect(body.notifications.map((one) => [one.read, one.seen])).toEqual([
      [true, true],
      [true, true],
      [true, true],
    ])
  })

  test('[comms.read] an id that is given twice, or in capitals, counts once', async () => {
    const ben = await reader('ben')
    const [id = ''] = await seedNotifications(service.sql, project, [ben], many(1))
    expect((await read(project, ben, { ids: [id, id.toUpperCase(), id] })).body).toEqual({ updated: 1 })
  })

  test('[comms.read] [comms.seen] ids that no notification has match nothing', async () => {
    const cleo = await reader('cleo')
    await seedNotifications(service.sql, project, [cleo], many(1))
    const ids = [
      randomUUID(),
      v7(),
      '00000000-0000-0000-0000-000000000000',
      '00000000-0000-7000-8000-000000000000',
      'ffffffff-ffff-ffff-ffff-ffffffffffff',
      'ffffffff-ffff-7fff-bfff-ffffffffffff',
    ]
    for (const mark of [read, seen]) {
      expect(await mark(project, cleo, { ids })).toMatchObject({ status: 200, body: { updated: 0 } })
      expect((await mark(project, cleo, { ids: ids.slice(0, 1) })).body).toEqual({ updated: 0 })
    }
  })

  test('[comms.read] 500 ids are marked in one statement', async () => {
    const dora = await reader('dora')
    const ids = await seedNotifications(service.sql, project, [dora], many(501))
    service.statements.length = 0
    expect((await read(project, dora, { ids: ids.slice(0, 500) })).body).toEqual({ updated: 500 })
    expect(service.statements).toHaveLength(1)
    expect((await unread(project, dora)).body).toEqual({ unread: true })
  })

  test('[comms.read] all marks everything that is unread, in parts', async () => {
    const emil = await reader('emil')
    const readAt = new Date('2026-01-02T03:04:05.678Z')
    await seedNotifications(
      service.sql,
      project,
      [emil],
      [...many(2_500), { readAt, seenAt: readAt }, { expiresAt: new Date(Date.now() - 1) }],
    )
    service.statements.length = 0
    expect((await read(project, emil, { all: true })).body).toEqual({ updated: 2_500 })
    expect(service.statements).toHaveLength(3)
    const rows = await rowsOf(emil)
    expect(rows.filter((row) => row.readAt?.getTime() === readAt.getTime())).toHaveLength(1)
    expect(rows.filter((row) => row.readAt === null)).toHaveLength(1)
    expect((await unread(project, emil)).body).toEqual({ unread: false })
    expect((await read(project, emil, { all: true })).body).toEqual({ updated: 0 })
  })

  test('[comms.read] what arrives while all is being marked stays unread', async () => {
    const finn = await reader('finn')
    const ids = await seedNotifications(service.sql, project, [finn], many(2_500))
    const holder = await service.sql.connect()
    await holder.query('begin')
    // The second of three parts waits for the lock on this row.
    await holder.query(
      'select from notification_recipients where user_id = $1 and notification_id = $2 for update',
      [finn.id, ids[999]],
    )
    const marked = read(project, finn, { all: true })
    await waitForLockWait(service.sql)
    const [late] = await seedNotifications(service.sql, project, [finn], [{ at: new Date(Date.now() + 50) }])
    await holder.query('commit')
    holder.release()
    expect((await marked).body).toEqual({ updated: 2_500 })
    const { body } = await list(project, finn, '?unread=true')
    expect(body.notifications.map(({ id }) => id)).toEqual([late])
  })

  test('[comms.read] two at once, in opposite orders, mark each notification once', async () => {
    const gina = await reader('gina')
    const ids = await seedNotifications(service.sql, project, [gina], many(300))
    const answers = await Promise.all(
      [{ ids }, { ids: ids.toReversed() }, { all: true }, { ids: ids.slice(100) }].map((body) =>
        read(project, gina, body),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect(answers.reduce((sum, { body }) => sum + body.updated, 0)).toBe(300)
  })
})

describe('seen', () => {
  test('[comms.seen] marks the ids as seen and not as read', async () => {
    const hugo = await reader('hugo')
    const [first = '', second = ''] = await seedNotifications(service.sql, project, [hugo], many(2))
    expect(await seen(project, hugo, { ids: [first] })).toMatchObject({ status: 200, body: { updated: 1 } })
    expect((await seen(project, hugo, { ids: [first] })).body).toEqual({ updated: 0 })
    expect(await rowsOf(hugo)).toEqual([
      { id: second, readAt: null, seenAt: null },
      { id: first, readAt: null, seenAt: expect.any(Date) },
    ])
    expect((await unread(project, hugo)).body).toEqual({ unread: true })
  })

  test('[comms.seen] all is refused, whatever its value is', async () => {
    const ines = await reader('ines')
    const ids = await seedNotifications(service.sql, project, [ines], many(1))
    for (const body of [{ all: true }, { all: false }, { all: null }, { ids, all: true }])
      expect(await seen(project, ines, body)).toMatchObject({
        status: 400,
        body: { error: 'marking all as seen is not supported; send the ids of the displayed notifications' },
      })
    expect(await rowsOf(ines)).toEqual([{ id: ids[0], readAt: null, seenAt: null }])
  })
})

describe('a mark that says not what to mark', () => {
  const list1To500 = 'ids must be a list of 1 to 500 UUIDs; send more in several requests'
  const cases: [unknown, string][] = [
    [{ ids: [] }, list1To500],
    [{ ids: Array.from({ length: 501 }, () => v7()) }, list1To500],
    [{ ids: Array.from({ length: 1_500 }, () => v7()) }, list1To500],
    [{ ids: ['x'] }, list1To500],
    [{ ids: [v7(), 7] }, list1To500],
    [{ ids: [null] }, list1To500],
    [{ ids: v7() }, list1To500],
    [{ ids: null }, list1To500],
    [{ ids: { 0: v7() } }, list1To500],
    [[], 'send a JSON object'],
    ['null', 'send a JSON object'],
    ['"x"', 'send a JSON object'],
    ['{', 'the request body is not valid JSON'],
    [{ ids: [v7()], connection_id: 7 }, 'connection_id must be a string'],
    [{ ids: [v7()], connection_id: 'x'.repeat(101) }, 'connection_id must have at most 100 characters'],
  ]

  test('[comms.mark-invalid] answers 400 and says what to send', async () => {
    const jana = await reader('jana')
    for (const [body, error] of cases)
      for (const mark of [read, seen])
        expect([body, await mark(project, jana, body)]).toMatchObject([
          body,
          { status: 400, body: { error } },
        ])
    for (const body of [{}, { connection_id: 'x' }]) {
      expect((await read(project, jana, body)).body).toMatchObject({ error: 'send ids, or all: true' })
      expect((await seen(project, jana, body)).body).toMatchObject({
        error: 'ids is missing; send the ids of the displayed notifications',
      })
    }
    for (const all of [false, null, 1, 'true', []])
      expect((await read(project, jana, { all })).body).toMatchObject({
        error: 'all must be true, or absent',
      })
    expect(await read(project, jana, { ids: [v7()], all: true })).toMatchObject({
      status: 400,
      body: { error: 'send either ids or all, not both' },
    })
  })

  test('[comms.mark-invalid] a malformed application does not hide it', async () => {
    const kurt = await reader('kurt')
    const nowhere = { ...project, applicationId: 'x' }
    expect((await read(nowhere, kurt, {})).status).toBe(400)
    expect((await seen(nowhere, kurt, { all: true })).status).toBe(400)
  })
})

const hints: Hint[] = []
/** Creates the service and records the hints that it sends. */
const inbox = (maxMarked?: number) =>
  createInboxService({
    database: service.world.database,
    retentionDays: 90,
    sendHint: (hint) => void hints.push(hint),
    ...(maxMarked === undefined ? {} : { maxMarked }),
  })
const place = (who: { id: string }) => ({
  tenantId: project.tenantId,
  applicationId: project.applicationId,
  userId: who.id,
})

test('[comms.read] one request marks up to a number of rows, the newest first, and the next one goes on', async () => {
  const nils = await reader('nils')
  await seedNotifications(service.sql, project, [nils], many(2_500))
  const marks = inbox(2_000)
  const all = { mark: 'read' as const, marked: { all: true as const }, connectionId: null }
  expect(await marks.mark(place(nils), all)).toBe(2_000)
  expect((await rowsOf(nils)).map((row) => row.readAt !== null)).toEqual([
    ...many(2_000).map(() => true),
    ...many(500).map(() => false),
  ])
  expect([await marks.mark(place(nils), all), await marks.mark(place(nils), all)]).toEqual([500, 0])
})

describe('the hint of a mark', () => {
  test('names what was marked to the sockets of the user, except the one that asked', async () => {
    const lena = await reader('lena')
    const [first = '', second = ''] = await seedNotifications(service.sql, project, [lena], many(3))
    const marks = inbox()
    hints.length = 0
    await marks.mark(place(lena), { mark: 'seen', marked: { ids: [first, v7()] }, connectionId: 'tab-1' })
    await marks.mark(place(lena), { mark: 'read', marked: { ids: [first, second] }, connectionId: null })
    await marks.mark(place(lena), { mark: 'read', marked: { all: true }, connectionId: null })
    const { tenantId, applicationId } = project
    const of = {
      tenantId,
      applicationId,
      audience: { users: [lena.id], roles: [], members: false },
      mayDrop: false,
    }
    expect(hints.map(({ text, ...hint }) => ({ ...hint, frame: JSON.parse(text) as unknown }))).toEqual([
      { ...of, exceptConnection: 'tab-1', frame: { type: 'notification.seen', ids: [first] } },
      { ...of, frame: { type: 'notification.read', ids: expect.arrayContaining([first, second]) } },
      { ...of, frame: { type: 'notification.read', all: true } },
    ])
  })

  test('is not sent when nothing was marked', async () => {
    const mona = await reader('mona')
    const ids = await seedNotifications(
      service.sql,
      project,
      [mona],
      [{ readAt: new Date(), seenAt: new Date() }],
    )
    const marks = inbox()
    hints.length = 0
    for (const marked of [{ ids }, { ids: [v7()] }, { ids: [randomUUID()] }, { all: true as const }])
      expect(await marks.mark(place(mona), { mark: 'read', marked, connectionId: null })).toBe(0)
    expect(await marks.mark(null, { mark: 'read', marked: { all: true }, connectionId: null })).toBe(0)
    expect(hints).toEqual([])
  })
})
