// These tests cover emits through the HTTP route: recipients, stored content and authorization.
import { randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  type CommsLayer,
  commsLayers,
  contentOf,
  emit,
  generousLimits,
  targetFields,
  publish,
  recipientsOf,
  seedTenantMember,
  setComms,
} from '../../../test/kit/comms.ts'
import { uuid } from '../../../test/kit/members.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedMachineUser, seedMember, seedProject, seedTenant } from '@manager/harness/seed.ts'

const { service, admin, project, other, person, member } = useProject({
  withOther: true,
  env: generousLimits,
})
let token: string
/** Tenant users: a member, an admin, an owner, and a user whose role lacks `apps.read`. */
let [reader, chief, owner, blind] = ['', '', '', '']
/** A project member, and a user without any role. */
let [staff, stranger] = ['', '']
beforeAll(async () => {
  token = (await seedMachineUser(service.sql, project)).token
  await service.sql.query(
    `insert into tenant_role_definitions (id, project_id, tenant_id, name, permissions, seeded)
     values (gen_random_uuid(), $1, $2, 'blind', '{members}', false)`,
    [project.id, project.tenantId],
  )
  ;[reader, chief, owner, blind] = (await Promise.all(
    ['member', 'admin', 'owner', 'blind'].map((role) => seedTenantMember(service, project, role)),
  )) as [string, string, string, string]
  staff = (await member('staff', 'readonly')).id
  stranger = (await person('stranger')).id
  await seedTenantMember(service, other)
})
const send = (body: object, key?: string) => emit(service, token, { ...targetFields(project), ...body }, key)
/** Emits a notification and returns its recipients. */
const gets = async (body: object): Promise<string[]> => {
  const answer = await send(body)
  expect(answer).toMatchObject({ status: 202 })
  const users = await recipientsOf(service, answer.body.notification_id)
  expect(answer.body.recipient_count).toBe(users.length)
  return users
}
const those = (...ids: string[]): string[] => ids.toSorted()

describe('an emit', () => {
  test('[comms.emit] answers 202 with the notification, the request and the number of recipients, all of it stored', async () => {
    const answer = await send({ title: 'Hello', recipients: [reader] })
    expect(answer).toMatchObject({
      status: 202,
      body: {
        notification_id: uuid,
        request_id: answer.headers.get('x-request-id'),
        recipient_count: 1,
      },
    })
    expect(Object.keys(answer.body)).toHaveLength(3)
    const { notification_id: id } = answer.body
    expect(await contentOf(service, id)).toMatchObject({
      title: 'Hello',
      severity: 'info',
      tenant_id: project.tenantId,
      application_id: project.applicationId,
      type: null,
      body: null,
      link: null,
      data: null,
      expires_at: null,
    })
    expect(await recipientsOf(service, id)).toEqual([reader])
  })

  test('the time of a notification is that of its id, and a later one sorts after it', async () => {
    const ids: string[] = []
    for (let sent = 0; sent < 5; sent++) {
      const { body } = await send({ recipients: [reader] })
      const { created_at } = (await contentOf(service, body.notification_id)) ?? {}
      const idMs = Number.parseInt(body.notification_id.replace('-', '').slice(0, 12), 16)
      expect(created_at?.getTime()).toBe(idMs)
      ids.push(body.notification_id)
    }
    expect(ids).toEqual(ids.toSorted())
  })

  test('every field is kept as it was sent, and its type and expiry with the recipients too', async () => {
    const sent = {
      type: 'order.shipped-2_x.Y',
      title: 'Zweite Zeile ü🙂',
      body: 'a\tb\nc\r\n',
      severity: 'warning',
      link: '/orders/1?x=%20#top',
      data: { list: [1, 'two', null, { deep: true }], nul: '\u0000', half: '\ud83d' },
      expires_at: '2099-01-31T12:00:00.5+02:00',
    }
    const { body } = await send({ ...sent, recipients: [reader] })
    const kept = await contentOf(service, body.notification_id)
    expect({ ...kept, data: JSON.parse(String(kept?.data)) }).toMatchObject({
      ...sent,
      expires_at: new Date(sent.expires_at),
    })
    const { rows } = await service.sql.query(
      'select type, expires_at, read_at, seen_at from notification_recipients where notification_id = $1',
      [body.notification_id],
    )
    expect(rows).toEqual([
      { type: sent.type, expires_at: new Date(sent.expires_at), read_at: null, seen_at: null },
    ])
  })

  test('without anybody to get it, it is answered all the same and no content is kept', async () => {
    const { status, body } = await send({ recipients: [stranger], title: 'nobody' })
    expect([status, body.recipient_count]).toEqual([202, 0])
    expect(await contentOf(service, body.notification_id)).toBeNull()
  })
})

describe('who gets a notification', () => {
  test('[comms.emit-recipients] without recipients every member of the tenant who has the application', async () => {
    expect(await gets({})).toEqual(those(reader, chief, owner))
  })

  test('[comms.emit-recipients] those who are named, each once, staff and administrators too', async () => {
    expect(await gets({ recipients: [reader, reader.toUpperCase(), staff, admin.id] })).toEqual(
      those(reader, staff, admin.id),
    )
  })

  test('[comms.emit-unknown-recipients] users who do not have the application are left out, and ids of nobody', async () => {
    expect(await gets({ recipients: [blind, stranger, randomUUID(), chief] })).toEqual([chief])
  })

  test('[comms.emit-roles] members in these roles, as far as the roles can read applications', async () => {
    expect(await gets({ roles: ['admin'] })).toEqual([chief])
    expect(await gets({ roles: ['owner', 'admin', 'owner'] })).toEqual(those(chief, owner))
    expect(await gets({ roles: ['blind', 'nothing', "o'wner", '"], ['] })).toEqual([])
  })

  test('[comms.emit-roles] recipients and roles together are for both', async () => {
    expect(await gets({ roles: ['admin'], recipients: [staff, chief, stranger] })).toEqual(
      those(chief, staff),
    )
  })

  test('[comms.emit-recipients] a thousand are accepted, one more and none are not', async () => {
    const many = Array.from({ length: 999 }, () => randomUUID())
    expect(await gets({ recipients: [...many, reader] })).toEqual([reader])
    for (const recipients of [[], [...many, reader, chief], 'x', null, ['x'], [null], [1]])
      expect(await send({ recipients })).toMatchObject({
        status: 400,
        body: { error: 'recipients must be a list of 1 to 1000 user UUIDs' },
      })
  })

  test('[comms.emit-recipients] whoever it is, they get what a model of the rules says', async () => {
    const roles = ['member', 'admin', 'owner', 'blind'] as const
    const holders = { member: reader, admin: chief, owner, blind }
    const everybody = [...Object.values(holders), staff, admin.id, stranger]
    const subset = <T>(values: readonly T[]) => fc.subarray([...values], { minLength: 1 })
    const maybe = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined })
    await fc.assert(
      fc.asyncProperty(
        maybe(subset(everybody)),
        maybe(subset([...roles, 'nothing'])),
        async (recipients, named) => {
          const readable = roles.filter((role) => role !== 'blind')
          const byRole = (some: readonly string[]) =>
            readable.filter((role) => some.includes(role)).map((role) => holders[role])
          const byId = (recipients ?? []).filter((id) => id !== blind && id !== stranger)
          const all = recipients === undefined && named === undefined ? byRole(roles) : byRole(named ?? [])
          const body = {
            ...(recipients === undefined ? {} : { recipients }),
            ...(named === undefined ? {} : { roles: named }),
          }
          expect(await gets(body)).toEqual(those(...new Set([...all, ...byId])))
        },
      ),
      { numRuns: 25 },
    )
  })
})

/** Emits and publishes the same body. Both must return the same status and error. */
async function both(body: object, by = token) {
  const [emitted, published] = [await emit(service, by, body), await publish(service, by, body)]
  expect(published.status).toBe(emitted.status)
  expect(published.body.error).toEqual(emitted.body.error)
  return emitted
}
const foreign = {
  status: 403,
  body: {
    error: 'application_id and tenant_id must name an application and a tenant of your project',
    code: 'forbidden',
  },
}
const disabled = { status: 403, body: { error: 'comms_disabled', code: 'forbidden' } }

describe('where backends may notify', () => {
  test('[comms.required] without an application or a tenant, or with ones that are no UUIDs, the answer is 400', async () => {
    for (const field of ['application_id', 'tenant_id'])
      for (const value of [undefined, null, '', 'x', 1, [project.tenantId]]) {
        const answer = await both({ ...targetFields(project), [field]: value })
        expect(answer).toMatchObject({ status: 400, body: { error: `${field} must be a UUID` } })
      }
    expect(
      await both({
        application_id: project.applicationId.toUpperCase(),
        tenant_id: project.tenantId.toUpperCase(),
      }),
    ).toMatchObject({ status: 202 })
  })

  test('[comms.foreign] an application or a tenant of another project, or of none, answers 403', async () => {
    const [own, theirs] = [targetFields(project), targetFields(other)]
    for (const place of [
      theirs,
      { ...own, tenant_id: theirs.tenant_id },
      { ...own, application_id: theirs.application_id },
      { ...own, tenant_id: randomUUID() },
      { ...own, application_id: randomUUID() },
    ])
      expect(await both(place)).toMatchObject(foreign)
    const { token: theirToken } = await seedMachineUser(service.sql, other)
    expect(await both(theirs, theirToken)).toMatchObject({ status: 202 })
    expect(await both(own, theirToken)).toMatchObject(foreign)
    expect(await both(own, 'x'.repeat(43))).toMatchObject({ status: 401 })
  })

  test('[comms.disabled] [comms.disabled-when] without a row that enables the application for the tenant: comms_disabled', async () => {
    const third = await seedProject(service.sql, `third-${randomUUID().slice(0, 8)}`)
    const { token: thirdToken } = await seedMachineUser(service.sql, third)
    const ask = () => both(targetFields(third), thirdToken)
    expect(await ask()).toMatchObject({ status: 202 })
    await service.sql.query('update tenant2applications set enabled = false where id = $1', [
      third.tenant2ApplicationId,
    ])
    expect(await ask()).toMatchObject(disabled)
    await service.sql.query('delete from tenant2applications where id = $1', [third.tenant2ApplicationId])
    expect(await ask()).toMatchObject(disabled)
    const tenantId = randomUUID()
    await seedTenant(service.sql, third.id, tenantId, 'without-row')
    expect(await both({ ...targetFields(third), tenant_id: tenantId }, thirdToken)).toMatchObject(disabled)
  })
})

describe('comms.enabled', () => {
  beforeEach(async () => {
    for (const layer of commsLayers) await setComms(service, project, layer, {})
  })
  const place = () => targetFields(project)

  test('[comms.disabled-when] `false` in any layer and either part turns both off; anything else does not', async () => {
    for (const layer of commsLayers)
      for (const part of ['backend', 'frontend'] as const) {
        for (const value of ['true', '', 'FALSE', '0', 'false ']) {
          await setComms(service, project, layer, { [part]: value })
          expect(await both(place())).toMatchObject({ status: 202 })
        }
        await setComms(service, project, layer, { [part]: 'false' })
        expect([layer, part, await both(place())]).toMatchObject([layer, part, disabled])
        await setComms(service, project, layer, {})
      }
  })

  test('[comms.disabled-when] the most specific layer that has it decides, for each part', async () => {
    const values = fc.record(
      Object.fromEntries(
        commsLayers.map((layer) => [
          layer,
          fc.record({
            backend: fc.constantFrom(null, 'true', 'false'),
            frontend: fc.constantFrom(null, 'true', 'false'),
          }),
        ]),
      ) as Record<CommsLayer, fc.Arbitrary<Record<'backend' | 'frontend', string | null>>>,
    )
    await fc.assert(
      fc.asyncProperty(values, async (layers) => {
        for (const layer of commsLayers) await setComms(service, project, layer, layers[layer])
        const merged = (['backend', 'frontend'] as const).map((part) =>
          (['leaf', 'tenant', 'application', 'project'] as const)
            .map((layer) => layers[layer][part])
            .find((value) => value !== null),
        )
        const expected = merged.includes('false') ? disabled : { status: 202 }
        expect(await both(place())).toMatchObject(expected)
      }),
      { numRuns: 40 },
    )
  })

  test("[comms.disabled-when] another tenant's or another application's settings change nothing", async () => {
    for (const layer of commsLayers) await setComms(service, other, layer, { backend: 'false' })
    expect(await both(place())).toMatchObject({ status: 202 })
  })
})

test('a user who is added or loses their role is judged by how it is when the emit comes', async () => {
  const late = await person('late')
  expect(await gets({ recipients: [late.id] })).toEqual([])
  const id = await seedMember(service.sql, late, 'member', {
    projectId: project.id,
    tenantId: project.tenantId,
  })
  expect(await gets({ recipients: [late.id] })).toEqual([late.id])
  await service.sql.query('delete from user2tenants where id = $1', [id])
  expect(await gets({ recipients: [late.id] })).toEqual([])
})
