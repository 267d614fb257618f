// These tests cover inbox ownership: only the proxy headers identify the caller, and callers cannot read or mark rows
// of other users.
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { type Person, proxySecret } from '@manager/harness/callers.ts'
import {
  callComms,
  inboxCalls,
  recipientRows,
  seedNotifications,
  tenantHeaders,
} from '../../../test/kit/inbox.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedMember, seedTenant } from '@manager/harness/seed.ts'

const { service, admin, project, other, person, member } = useProject({ withOther: true })
const { list, unread, read, seen } = inboxCalls(() => service)

let reader: Person
let id: string
beforeEach(async () => {
  reader = await person('reader')
  await join(reader)
  ;[id = ''] = await seedNotifications(service.sql, project, [reader], [{}])
})
const join = (who: Person, role = 'member', tenantId = project.tenantId) =>
  seedMember(service.sql, who, role, { projectId: project.id, tenantId })

type Lines = [string, string][]
/** Calls every route with these header lines. */
async function everyRoute(headers: Lines, applicationId = project.applicationId) {
  const call = (path: string, body?: unknown) =>
    callComms<Record<string, unknown>>(service.url, { path: `${applicationId}/${path}`, headers, body })
  return [
    await call('notifications'),
    await call('unread'),
    await call('notifications/read', { ids: [id] }),
    await call('notifications/read', { all: true }),
    await call('notifications/seen', { ids: [id] }),
  ]
}
const nothing = [
  { notifications: [], next_cursor: null, has_more: false },
  { unread: false },
  { updated: 0 },
  { updated: 0 },
  { updated: 0 },
]
async function expectNothing(headers: Lines, applicationId?: string): Promise<void> {
  const answers = await everyRoute(headers, applicationId)
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
  expect(answers.map(({ body }) => body)).toEqual(nothing)
  expect(await recipientRows(service.sql, project, reader)).toEqual([{ id, readAt: null, seenAt: null }])
}
const ids = ({ body }: Awaited<ReturnType<typeof list>>) => body.notifications.map((one) => one.id)

describe('the identity of an inbox', () => {
  const secret: [string, string] = ['X-Proxy-Auth', proxySecret]
  const user = (): [string, string] => ['X-User-Id', reader.id]
  const tenant = (): [string, string] => ['X-Tenant-Id', project.tenantId]

  test('[comms.identity] absent headers answer 401 on every route', async () => {
    for (const [headers, missing] of [
      [[secret], 'X-User-Id'],
      [[secret, tenant()], 'X-User-Id'],
      [[secret, user()], 'X-Tenant-Id'],
      [[secret, ['X-Token-Subject', reader.id], tenant()], 'X-User-Id'],
    ] as [Lines, string][])
      for (const { status, body } of await everyRoute(headers))
        expect([status, body['error']]).toEqual([
          401,
          `no authenticated user: the proxy did not forward ${missing}`,
        ])
  })

  test('[comms.identity] repeated and malformed headers answer 401 on every route', async () => {
    for (const [headers, text] of [
      [[secret, user(), user(), tenant()], 'X-User-Id is sent more than once'],
      [[secret, user(), ['X-User-Id', admin.id], tenant()], 'X-User-Id is sent more than once'],
      [[secret, user(), tenant(), tenant()], 'X-Tenant-Id is sent more than once'],
      [[secret, ['X-User-Id', 'me'], tenant()], 'X-User-Id is not a UUID'],
      [[secret, ['X-User-Id', `${reader.id},${reader.id}`], tenant()], 'X-User-Id is not a UUID'],
      [[secret, user(), ['X-Tenant-Id', project.tenantSlug]], 'X-Tenant-Id is not a UUID'],
    ] as [Lines, string][])
      for (const { status, body } of await everyRoute(headers))
        expect([status, body['error']]).toEqual([401, `invalid authenticated user: ${text}`])
  })

  test('[comms.identity] without the proxy secret nothing is read of them', async () => {
    for (const { status, body } of await everyRoute([user(), tenant()]))
      expect([status, body['error']]).toEqual([
        401,
        expect.stringMatching(/^missing or invalid X-Proxy-Auth/),
      ])
  })

  test('[comms.identity] names in the query and in the body are ignored', async () => {
    const stranger = await person('stranger')
    await join(stranger)
    const query = new URLSearchParams({
      'X-User-Id': reader.id,
      'x-user-id': reader.id,
      user_id: reader.id,
      tenant_id: project.tenantId,
      application_id: project.applicationId,
    })
    expect(ids(await list(project, stranger, `?${query}`))).toEqual([])
    const named = { user_id: reader.id, 'X-User-Id': reader.id, tenant_id: project.tenantId }
    for (const mark of [read, seen])
      expect((await mark(project, stranger, { ids: [id], ...named })).body).toEqual({ updated: 0 })
    // Query parameters cannot replace the headers either.
    const missing = await callComms(service.url, {
      path: `${project.applicationId}/notifications?X-User-Id=${reader.id}&X-Tenant-Id=${project.tenantId}`,
      headers: [secret],
    })
    expect(missing.status).toBe(401)
    expect(await recipientRows(service.sql, project, reader)).toEqual([{ id, readAt: null, seenAt: null }])
  })

  test('[comms.identity] ids in capitals name the same user, tenant and application', async () => {
    const headers: Lines = [
      secret,
      ['X-User-Id', reader.id.toUpperCase()],
      ['X-Tenant-Id', project.tenantId.toUpperCase()],
    ]
    const [page, probe, marked] = await everyRoute(headers, project.applicationId.toUpperCase())
    expect(page?.body['notifications']).toHaveLength(1)
    expect([probe?.body, marked?.body]).toEqual([{ unread: true }, { updated: 1 }])
  })
})

describe('an inbox is anchored to its owner', () => {
  test('[comms.anchored] another user, tenant or application finds nothing, and marks nothing', async () => {
    const stranger = await person('stranger')
    await join(stranger)
    await expectNothing(tenantHeaders(stranger, project))
    await expectNothing(tenantHeaders({ id: randomUUID() }, project))
    const tenantId = randomUUID()
    await seedTenant(service.sql, project.id, tenantId, `t-${tenantId}`)
    await service.sql.query(
      `insert into tenant2applications (id, project_id, tenant_id, application_id, enabled)
       values (gen_random_uuid(), $1, $2, $3, true)`,
      [project.id, tenantId, project.applicationId],
    )
    await join(reader, 'member', tenantId)
    await expectNothing(tenantHeaders(reader, { tenantId }))
    await expectNothing(tenantHeaders(reader, { tenantId: randomUUID() }))
    await expectNothing(tenantHeaders(reader, project), other.applicationId)
    await expectNothing(tenantHeaders(reader, project), randomUUID())
    await expectNothing(tenantHeaders(reader, other), other.applicationId)
  })

  test('[comms.anchored] a malformed application answers like one without rows', async () => {
    for (const applicationId of ['x', '%20', "'", project.applicationSlug, `${project.applicationId}x`, 'é'])
      await expectNothing(tenantHeaders(reader, project), encodeURIComponent(applicationId))
  })

  test('[comms.anchored] who lost the application has an empty inbox, and finds it again with access', async () => {
    const give = async (sql: string, ...values: unknown[]) => void (await service.sql.query(sql, values))
    const disable = 'update tenant2applications set enabled = $1 where id = $2'
    await give(disable, false, project.tenant2ApplicationId)
    await expectNothing(tenantHeaders(reader, project))
    await give(disable, true, project.tenant2ApplicationId)
    expect(ids(await list(project, reader))).toEqual([id])
    await give(
      `insert into tenant_role_definitions (id, project_id, tenant_id, name, permissions, seeded)
       values (gen_random_uuid(), $1, $2, 'watcher', '{members}', false) on conflict do nothing`,
      project.id,
      project.tenantId,
    )
    const change = 'update user2tenants set role_name = $1 where user_id = $2'
    await give(change, 'watcher', reader.id)
    await expectNothing(tenantHeaders(reader, project))
    await give('delete from user2tenants where user_id = $1', reader.id)
    await expectNothing(tenantHeaders(reader, project))
    await join(reader)
    expect((await unread(project, reader)).body).toEqual({ unread: true })
    expect((await read(project, reader, { ids: [id] })).body).toEqual({ updated: 1 })
  })

  test('[comms.anchored] staff read what was sent to them, though they are no members of the tenant', async () => {
    const staff = [await member('staff', 'readonly'), admin]
    const outsiders = [await person('outsider')]
    await seedMember(service.sql, outsiders[0] as Person, 'owner', { projectId: other.id })
    await seedMember(service.sql, outsiders[0] as Person, 'normal', {
      projectId: project.id,
      applicationId: project.applicationId,
    })
    const [sent] = await seedNotifications(service.sql, project, [...staff, ...outsiders], [{}])
    for (const one of staff) expect(ids(await list(project, one))).toEqual([sent])
    for (const one of outsiders) expect(ids(await list(project, one))).toEqual([])
  })

  test('[comms.anchored] a foreign id among own ones changes nothing of the other, and none of the own is left out', async () => {
    const stranger = await person('stranger')
    await join(stranger)
    const [own = ''] = await seedNotifications(service.sql, project, [stranger], [{}])
    for (const mark of [seen, read])
      expect((await mark(project, stranger, { ids: [id, own, randomUUID()] })).body).toEqual({ updated: 1 })
    expect(await recipientRows(service.sql, project, reader)).toEqual([{ id, readAt: null, seenAt: null }])
  })

  test('[comms.anchored] a notification for two is read by one of them', async () => {
    const second = await person('second')
    await join(second)
    const [shared = ''] = await seedNotifications(service.sql, project, [reader, second], [{}])
    expect((await read(project, second, { ids: [shared] })).body).toEqual({ updated: 1 })
    expect((await read(project, second, { all: true })).body).toEqual({ updated: 0 })
    const [row] = await recipientRows(service.sql, project, reader)
    expect(row).toEqual({ id: shared, readAt: null, seenAt: null })
    expect((await unread(project, reader)).body).toEqual({ unread: true })
  })
})
