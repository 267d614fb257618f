// These tests cover the caller's notifications of all tenants and applications, requested through GraphQL.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { type SeededProject, seedMember, seedTenant } from '@manager/harness/seed.ts'
import { type Inbox, addPastMonths, seedNotifications } from '../../../test/kit/inbox.ts'
import { useProject } from '../../../test/kit/project.ts'
import { encodeCursor } from './inbox-cursor.pure.ts'
import { maxInboxes } from './own-inboxes.service.ts'

const { service, admin, project, other, person, member } = useProject({ withOther: true })
/** A second tenant of the project, with the same application. */
const second: Inbox = { tenantId: randomUUID(), applicationId: '' }
beforeAll(async () => {
  await addPastMonths(service.sql)
  second.applicationId = project.applicationId
  await seedTenant(service.sql, project.id, second.tenantId, 'second')
  await enable(project.id, second)
})

const enable = (projectId: string, { tenantId, applicationId }: Inbox) =>
  service.sql.query(
    `insert into tenant2applications (id, project_id, tenant_id, application_id, enabled)
     values (gen_random_uuid(), $1, $2, $3, true)`,
    [projectId, tenantId, applicationId],
  )
const join = (who: Person, { id: projectId }: Pick<SeededProject, 'id'>, tenantId: string, role = 'member') =>
  seedMember(service.sql, who, role, { projectId, tenantId })
/** Creates a member of the two tenants of the project and of the tenant of the other project. */
async function reader(name: string): Promise<Person> {
  const added = await person(name)
  await join(added, project, project.tenantId)
  await join(added, project, second.tenantId)
  await join(added, other, other.tenantId)
  return added
}
const ago = (seconds: number): Date => new Date(Date.now() - seconds * 1_000)
const send = async (inbox: Inbox, to: Person, one: object = {}): Promise<string> =>
  (await seedNotifications(service.sql, inbox, [to], [one]))[0] ?? ''

const fields = 'nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } isComplete'
const ask = (caller: Person, args = '', selection = fields) =>
  service.query(caller, `{ page: myNotifications${args === '' ? '' : `(${args})`} { ${selection} } }`)
async function idsOf(caller: Person, args = ''): Promise<string[]> {
  const { data, error } = await ask(caller, args)
  expect([args, error]).toEqual([args, null])
  return (data.page.nodes as { id: string }[]).map(({ id }) => id)
}
const isUnread = async (caller: Person): Promise<boolean> =>
  (await service.query(caller, '{ myUnreadNotifications }')).data.myUnreadNotifications

describe('myNotifications', () => {
  test('[comms.own-list] merges all inboxes of the caller, newest first, page by page', async () => {
    const anna = await reader('anna')
    const sent: string[] = []
    for (let age = 12; age > 0; age--)
      sent.unshift(
        await send([project, second, other][age % 3] as Inbox, anna, { at: ago(age * 86_400 * 4) }),
      )
    expect(await idsOf(anna)).toEqual(sent)
    const walked: string[] = []
    for (let after = ''; ;) {
      const { data } = await ask(anna, `first: 5, after: "${after}"`)
      const { nodes, pageInfo, isComplete } = data.page
      walked.push(...(nodes as { id: string }[]).map(({ id }) => id))
      expect([isComplete, pageInfo.hasPreviousPage]).toEqual([true, after !== ''])
      expect([pageInfo.startCursor, pageInfo.endCursor]).toEqual(
        [nodes[0], nodes.at(-1)].map(({ id }) => encodeCursor(id)),
      )
      if (pageInfo.hasNextPage === false) break
      after = pageInfo.endCursor
    }
    expect(walked).toEqual(sent)
  })

  test('[comms.own-list] a notification has every field, and links to its application and tenant', async () => {
    const ben = await reader('ben')
    const [at, readAt, expiresAt] = [ago(60), ago(30), ago(-3_600)]
    const content = { type: 'orders.late', title: 'Late', body: 'Order 7', severity: 'warning', link: '/7' }
    const data = '{"order": 7, "big": 12345678901234567890.123}'
    const id = await send(other, ben, { ...content, data, at, readAt, seenAt: readAt, expiresAt })
    const bare = await send(project, ben)
    const all = `nodes { id type title body severity link data createdAt read readAt seen seenAt expiresAt
      application { id slug } tenant { id slug } }`
    const { data: answer, error } = await ask(ben, '', all)
    expect(error).toBeNull()
    const nothing = { type: null, title: null, body: null, severity: 'info', link: null, data: null }
    const isNew = { read: false, readAt: null, seen: false, seenAt: null, expiresAt: null }
    const linked = (of: SeededProject) => ({
      application: { id: of.applicationId, slug: of.applicationSlug },
      tenant: { id: of.tenantId, slug: of.tenantSlug },
    })
    expect(answer.page.nodes).toEqual([
      { id: bare, ...nothing, createdAt: expect.stringMatching(/Z$/), ...isNew, ...linked(project) },
      {
        id,
        ...content,
        data,
        createdAt: at.toISOString(),
        read: true,
        readAt: readAt.toISOString(),
        seen: true,
        seenAt: readAt.toISOString(),
        expiresAt: expiresAt.toISOString(),
        ...linked(other),
      },
    ])
  })

  test('[comms.own-list] unread, type and projectId narrow it, alone and together', async () => {
    const cleo = await reader('cleo')
    const read = { readAt: ago(1), seenAt: ago(1) }
    const a = await send(project, cleo, { type: 'a', at: ago(50) })
    const b = await send(second, cleo, { type: 'b', ...read, at: ago(40) })
    const c = await send(other, cleo, { type: 'a', ...read, at: ago(30) })
    const d = await send(other, cleo, { at: ago(20) })
    expect(await idsOf(cleo)).toEqual([d, c, b, a])
    expect(await idsOf(cleo, 'unread: true')).toEqual([d, a])
    expect(await idsOf(cleo, 'unread: false, type: null')).toEqual([d, c, b, a])
    expect(await idsOf(cleo, 'type: "a"')).toEqual([c, a])
    expect(await idsOf(cleo, 'type: "a", unread: true')).toEqual([a])
    expect(await idsOf(cleo, 'type: "missing", unread: true')).toEqual([])
    expect(await idsOf(cleo, `projectId: "${other.id}"`)).toEqual([d, c])
    expect(await idsOf(cleo, `projectId: "${project.id.toUpperCase()}", type: "b"`)).toEqual([b])
  })

  test('[comms.own-list] [lists.windows] from is inclusive and to exclusive, on every page', async () => {
    const lea = await reader('lea')
    const times = [80, 60, 40, 20].map((days) => ago(days * 86_400))
    const [w, x, y, z] = await Promise.all(
      times.map((at, index) => send([project, second, other][index % 3] as Inbox, lea, { type: 'a', at })),
    )
    const [at80, at60, at40, at20] = times.map((at) => JSON.stringify(at.toISOString()))
    for (const also of ['', ', unread: true', ', type: "a"', ', type: "a", unread: true']) {
      expect(await idsOf(lea, `from: ${at60}, to: ${at20}${also}`)).toEqual([y, x])
      expect(await idsOf(lea, `from: ${at40}${also}`)).toEqual([z, y])
      expect(await idsOf(lea, `to: ${at60}${also}`)).toEqual([w])
      expect(await idsOf(lea, `to: ${at80}${also}`)).toEqual([])
    }
    const first = (await ask(lea, `from: ${at60}, first: 1`)).data.page
    expect([first.nodes, first.pageInfo.hasPreviousPage]).toEqual([[{ id: z }], false])
    const after = `after: "${first.pageInfo.endCursor}"`
    expect(await idsOf(lea, `from: ${at60}, ${after}`)).toEqual([y, x])
    expect(await idsOf(lea, `from: ${at60}, to: ${at40}, ${after}`)).toEqual([x])
    expect((await ask(lea, `from: ${at60}, to: ${at40}`)).data.page.pageInfo.hasPreviousPage).toBe(false)
  })

  test('[comms.own-list] a scan for unread notifications of a type continues on the next page', async () => {
    const dirk = await reader('dirk')
    const rare = await send(project, dirk, { type: 'rare', at: ago(7_200) })
    // The three inboxes share a scan limit of 10,000 rows.
    const many = Array.from({ length: 3_400 }, () => ({ type: 'often', at: ago(3_600) }))
    await seedNotifications(service.sql, project, [dirk], many)
    const newer = await send(second, dirk, { type: 'rare', at: ago(60) })
    const hidden = await send(other, dirk, { type: 'rare', at: ago(7_000) })
    const first = (await ask(dirk, 'unread: true, type: "rare"')).data.page
    expect([first.nodes, first.pageInfo.hasNextPage]).toEqual([[{ id: newer }], true])
    const rest = (await ask(dirk, `unread: true, type: "rare", after: "${first.pageInfo.endCursor}"`)).data
      .page
    expect([rest.nodes, rest.pageInfo.hasNextPage]).toEqual([[{ id: hidden }, { id: rare }], false])
  })

  test('[comms.own-list] notifications of other people are missing, and expired ones', async () => {
    const [emil, finn] = [await reader('emil'), await reader('finn')]
    const own = await send(project, emil)
    await send(project, finn)
    await send(second, emil, { expiresAt: ago(1) })
    await send(second, emil, { at: ago(91 * 86_400) })
    expect(await idsOf(emil)).toEqual([own])
    expect(await idsOf(await person('no-member'))).toEqual([])
  })

  test('[comms.own-list] an inbox is empty while the caller has no access to it', async () => {
    const gina = await reader('gina')
    const [a, b, c] = [await send(project, gina), await send(second, gina), await send(other, gina)]
    const sees = async (...ids: string[]) => expect((await idsOf(gina)).toSorted()).toEqual(ids.toSorted())
    await sees(a, b, c)
    await service.sql.query('delete from user2tenants where user_id = $1 and tenant_id = $2', [
      gina.id,
      second.tenantId,
    ])
    await sees(a, c)
    const set = (enabled: boolean) =>
      service.sql.query('update tenant2applications set enabled = $2 where id = $1', [
        other.tenant2ApplicationId,
        enabled,
      ])
    await set(false)
    await sees(a)
    expect(await isUnread(gina)).toBe(true)
    await service.sql.query(
      `insert into tenant_role_definitions (id, project_id, tenant_id, name, permissions)
       values (gen_random_uuid(), $1, $2, 'blind', '{members}')`,
      [project.id, project.tenantId],
    )
    await service.sql.query(
      "update user2tenants set role_name = 'blind' where user_id = $1 and tenant_id = $2",
      [gina.id, project.tenantId],
    )
    await sees()
    expect(await isUnread(gina)).toBe(false)
    await set(true)
    await sees(c)
  })

  test('[comms.own-list] project members and administrators read what was sent to them by id', async () => {
    const helper = await member('helper', 'readonly')
    const [a, b] = [await send(project, helper), await send(second, helper)]
    await send(other, helper)
    expect((await idsOf(helper)).toSorted()).toEqual([a, b].toSorted())
    const [c, d] = [await send(other, admin), await send(second, admin)]
    expect((await idsOf(admin)).toSorted()).toEqual([c, d].toSorted())
    expect(await idsOf(admin, `projectId: "${other.id}"`)).toEqual([c])
  })

  test('[comms.own-list] reads a limited number of inboxes, and says that others are missing', async () => {
    const hugo = await person('hugo')
    const own = await send(project, hugo)
    await join(hugo, project, project.tenantId)
    await service.sql.query(
      `with made as (
         insert into applications (id, project_id, name, slug)
         select gen_random_uuid(), $1, 'many', 'many-' || n from generate_series(1, $2::int) n returning id
       )
       insert into tenant2applications (id, project_id, tenant_id, application_id, enabled)
       select gen_random_uuid(), $1, $3, id, true from made`,
      [other.id, maxInboxes - 1, other.tenantId],
    )
    await join(hugo, other, other.tenantId)
    const page = (await ask(hugo)).data.page
    expect(page.isComplete).toBe(false)
    expect((await ask(hugo, `projectId: "${project.id}"`)).data.page).toMatchObject({
      nodes: [{ id: own }],
      isComplete: true,
    })
    service.statements.length = 0
    await ask(hugo)
    expect(service.statements.filter((text) => text.includes('notification_recipients'))).toHaveLength(1)
    await service.sql.query("delete from applications where slug like 'many-%'")
  })

  test('[comms.own-list] invalid arguments are refused, and a project out of reach is not found', async () => {
    const ines = await reader('ines')
    await send(project, ines)
    const refusals: [string, string, string][] = [
      ['first: 0', 'bad_request', 'first must be from 1 to 100'],
      ['first: 101', 'bad_request', 'first must be from 1 to 100'],
      [`type: "${'a'.repeat(101)}"`, 'bad_request', 'type must have at most 100 characters'],
      [String.raw`type: "a\u0000b"`, 'bad_request', 'type must not contain'],
      ['from: "yesterday"', 'bad_request', 'from must be an RFC 3339 timestamp'],
      ['from: "2026-01-02T00:00:00Z", to: "2026-01-01T00:00:00Z"', 'bad_request', 'from must be before to'],
      ['projectId: "nonsense"', 'not_found', 'project not found'],
      [`projectId: "${randomUUID()}"`, 'not_found', 'project not found'],
    ]
    const cursors = [
      'garbage',
      encodeCursor(randomUUID()),
      'a'.repeat(10_000),
      `${encodeCursor(randomUUID())}=`,
    ]
    for (const cursor of cursors)
      refusals.push([`after: "${cursor}"`, 'bad_request', 'after is not a valid cursor'])
    for (const [args, code, text] of refusals) {
      const { error, errors } = await ask(ines, args)
      expect([args, errors[0]?.extensions?.code, error]).toEqual([args, code, expect.stringContaining(text)])
    }
    const stranger = await person('outside')
    expect((await ask(stranger, `projectId: "${project.id}"`)).error).toBe('project not found')
  })

  test('[comms.own-list] long texts are read once, and only if they are requested', async () => {
    const jana = await reader('jana')
    for (const inbox of [project, second, other])
      await send(inbox, jana, { body: 'x'.repeat(4_000), data: '[1]' })
    const reads = () => service.statements.filter((text) => /select n\.id, n\.(body|data)/.test(text)).length
    service.statements.length = 0
    await ask(jana, '', 'nodes { id title }')
    expect(reads()).toBe(0)
    const { data } = await ask(jana, '', 'nodes { body data }')
    expect(data.page.nodes).toEqual(
      Array.from({ length: 3 }, () => ({ body: 'x'.repeat(4_000), data: '[1]' })),
    )
    expect(reads()).toBe(2)
  })
})

describe('myUnreadNotifications', () => {
  test('[comms.own-unread] is true while one inbox has an unread notification that is kept', async () => {
    const kurt = await reader('kurt')
    expect(await isUnread(kurt)).toBe(false)
    await send(second, kurt, { readAt: ago(1), seenAt: ago(1) })
    await send(project, kurt, { expiresAt: ago(1) })
    await send(other, admin)
    expect(await isUnread(kurt)).toBe(false)
    await send(other, kurt)
    expect(await isUnread(kurt)).toBe(true)
    expect(await isUnread(await person('nobody'))).toBe(false)
  })
})
