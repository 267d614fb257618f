// These tests cover the mutation that marks the caller's own notifications in all tenants and applications.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { v7 } from 'uuid'
import type { Person } from '@manager/harness/callers.ts'
import { seedMember } from '@manager/harness/seed.ts'
import { type TestApp, dropReferences, startTestApp } from '../../../test/kit/app.ts'
import { type Inbox, recipientRows, seedNotifications } from '../../../test/kit/inbox.ts'
import { useProject } from '../../../test/kit/project.ts'
import { type TestSocket, openSocket } from '../../../test/kit/sockets.ts'
import { createInboxService } from './inbox.service.ts'
import { createOwnInboxesService } from './own-inboxes.service.ts'

const { service, project, other, person } = useProject({ withOther: true })

/** Creates a member of the tenants of both projects. */
async function reader(name: string): Promise<Person> {
  const added = await person(name)
  for (const { id, tenantId } of [project, other])
    await seedMember(service.sql, added, 'member', { projectId: id, tenantId })
  return added
}
const send = (inbox: Inbox, to: Person, count = 1): Promise<string[]> =>
  seedNotifications(
    service.sql,
    inbox,
    [to],
    Array.from({ length: count }, () => ({})),
  )
const text = `mutation($ids: [ID!], $all: Boolean, $projectId: ID, $connectionId: ID) {
  marked: markMyNotificationsRead(ids: $ids, all: $all, projectId: $projectId, connectionId: $connectionId) {
    updated isComplete
  }
}`
const mark = (caller: Person, variables: object, app: TestApp = service) =>
  app.query(caller, text, { ...variables })
const unreadOf = async (inbox: Inbox, who: Person): Promise<string[]> =>
  (await recipientRows(service.sql, inbox, who)).filter(({ readAt }) => readAt === null).map(({ id }) => id)

describe('markMyNotificationsRead', () => {
  test('[comms.own-marks] marks ids of several inboxes as read and seen, once', async () => {
    const anna = await reader('anna')
    const [first = '', kept = ''] = await send(project, anna, 2)
    const [second = ''] = await send(other, anna)
    const ids = [second, first, first.toUpperCase()]
    expect((await mark(anna, { ids })).data.marked).toEqual({ updated: 2, isComplete: true })
    expect(await unreadOf(project, anna)).toEqual([kept])
    const [row] = await recipientRows(service.sql, other, anna)
    expect(row).toEqual({ id: second, readAt: expect.any(Date), seenAt: row?.readAt })
    expect((await mark(anna, { ids })).data.marked).toEqual({ updated: 0, isComplete: true })
  })

  test('[comms.own-marks] all marks every inbox, or the inboxes of one project', async () => {
    const ben = await reader('ben')
    await send(project, ben, 3)
    await send(other, ben, 2)
    const inOther = { all: true, projectId: other.id }
    expect((await mark(ben, inOther)).data.marked).toEqual({ updated: 2, isComplete: true })
    expect((await mark(ben, { all: true })).data.marked).toEqual({ updated: 3, isComplete: true })
    expect((await mark(ben, { all: true })).data.marked).toEqual({ updated: 0, isComplete: true })
    expect([await unreadOf(project, ben), await unreadOf(other, ben)]).toEqual([[], []])
  })

  test('[comms.own-marks] touches no row of other people, and none after the access was lost', async () => {
    const [cleo, dirk] = [await reader('cleo'), await reader('dirk')]
    const [foreign = ''] = await send(project, dirk)
    const [lost = ''] = await send(other, cleo)
    await service.sql.query('delete from user2tenants where user_id = $1 and tenant_id = $2', [
      cleo.id,
      other.tenantId,
    ])
    const ids = [foreign, lost, v7(), randomUUID(), 'nonsense', '', 'ffffffff-ffff-7fff-bfff-ffffffffffff']
    expect((await mark(cleo, { ids })).data.marked).toEqual({ updated: 0, isComplete: true })
    expect((await mark(cleo, { all: true })).data.marked).toEqual({ updated: 0, isComplete: true })
    expect([await unreadOf(project, dirk), await unreadOf(other, cleo)]).toEqual([[foreign], [lost]])
    const outside = { all: true, projectId: other.id }
    expect((await mark(cleo, outside)).error).toBe('project not found')
  })

  test('[comms.own-marks] refuses arguments that do not fit together, and long lists', async () => {
    const emil = await reader('emil')
    const [id = ''] = await send(project, emil)
    const long = Array.from({ length: 501 }, () => v7())
    const refusals: [object, string][] = [
      [{}, 'send ids, or all: true'],
      [{ all: false }, 'send ids, or all: true'],
      [{ ids: [id], all: true }, 'send either ids or all, not both'],
      [{ ids: [] }, 'ids must have 1 to 500 entries; send more in several requests'],
      [{ ids: long }, 'ids must have 1 to 500 entries; send more in several requests'],
      [{ ids: [id], projectId: project.id }, 'projectId applies only to all; send ids without projectId'],
      [{ ids: [id], connectionId: 'x'.repeat(101) }, 'connectionId must have at most 100 characters'],
    ]
    for (const [variables, message] of refusals) {
      const { error, errors } = await mark(emil, variables)
      expect([error, errors[0]?.extensions?.code]).toEqual([message, 'bad_request'])
    }
    expect(await unreadOf(project, emil)).toEqual([id])
    expect((await mark(emil, { ids: long.slice(0, 500) })).data.marked.updated).toBe(0)
  })

  test('[comms.own-marks] marks a limited number of rows, and says that others remain', async () => {
    const finn = await reader('finn')
    await send(project, finn, 6)
    await send(other, finn, 6)
    const { database } = service.world
    const inbox = createInboxService({ database, retentionDays: 90, sendHint: () => undefined })
    const limited = createOwnInboxesService({ database, retentionDays: 90, inbox, maxMarked: 8 })
    const actor = { user: finn } as never
    const results = []
    for (let calls = 0; calls < 3; calls++) results.push(await limited.markRead(actor, { all: true }))
    expect(results).toEqual([
      { updated: 8, isComplete: false },
      { updated: 4, isComplete: true },
      { updated: 0, isComplete: true },
    ])
  })

  test('[comms.own-marks] appends nothing to the audit trail', async () => {
    const gina = await reader('gina')
    await send(project, gina)
    const count = async () => (await service.sql.query('select from audit_logs')).rowCount
    const before = await count()
    expect((await mark(gina, { all: true })).data.marked.updated).toBe(1)
    expect(await count()).toBe(before)
  })
})

describe('the hint of a mark', () => {
  /** A process that serves GraphQL but no WebSockets. */
  let console: TestApp
  beforeAll(async () => {
    console = await startTestApp({ database: service.database, env: { SVC_ROLES: 'api' } })
  })
  afterAll(async () => {
    await console.close()
    dropReferences(console)
  })
  const open = (inbox: Inbox, { id: userId }: Person): TestSocket =>
    openSocket(service.url, { userId, tenantId: inbox.tenantId, applicationId: inbox.applicationId })
  const hintsOf = (socket: TestSocket) => socket.framesWithoutPings().slice(1)

  test('[comms.own-marks] reaches the other sockets of the caller in each inbox, also from another process', async () => {
    const hugo = await reader('hugo')
    const [first = ''] = await send(project, hugo)
    await send(other, hugo)
    const sockets = [open(project, hugo), open(project, hugo), open(other, hugo)]
    const hellos = await Promise.all(sockets.map(({ hello }) => hello))
    const connectionId = hellos[0]?.['connection_id']
    await mark(hugo, { ids: [first], connectionId })
    await expect
      .poll(() => hintsOf(sockets[1] as TestSocket))
      .toEqual([{ type: 'notification.read', ids: [first] }])
    const { marked } = (await mark(hugo, { all: true }, console)).data
    expect(marked.updated).toBe(1)
    await expect
      .poll(() => hintsOf(sockets[2] as TestSocket))
      .toEqual([{ type: 'notification.read', all: true }])
    expect(hintsOf(sockets[0] as TestSocket)).toEqual([])
    for (const { client } of sockets) client.terminate()
  })
})
