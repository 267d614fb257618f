// These tests cover, through GraphQL, the access rows that allow machine users to call endpoints.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { accessCalls, endpointCalls, seedEndpoint, seedEndpointAccess } from '../../../test/kit/endpoints.ts'
import type { GraphqlAnswer } from '@manager/harness/graphql.ts'
import { expectRefused, uuid } from '../../../test/kit/members.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedMachineUser, seedMember, seedUser } from '@manager/harness/seed.ts'

const { service, admin, project, other } = useProject({ withOther: true })

const { allow, change, withdraw, accessOf, oneAccess, auditOf } = accessCalls(() => service)
const endpoints = endpointCalls(() => service)

const newEndpoint = (of = project): Promise<string> => seedEndpoint(service.sql, of)
const newMachineUser = async (of = project): Promise<string> => (await seedMachineUser(service.sql, of)).id
/** Creates an access row with its own endpoint and machine user. */
const newAccess = async (of = project) => {
  const [endpointId, machineUserId] = [await newEndpoint(of), await newMachineUser(of)]
  const id = await seedEndpointAccess(service.sql, { projectId: of.id, endpointId, machineUserId })
  return { id, endpointId, machineUserId }
}
const memberOf = async (role: string | null, of: object = {}): Promise<Person> => {
  const person = await seedUser(service.sql, role ?? 'outsider')
  if (role !== null) await seedMember(service.sql, person, role, { projectId: project.id, ...of })
  return person
}
const shown = (id: unknown, enabled: boolean, endpointId: string, machineUserId: string) => ({
  id,
  enabled,
  machineUser: { id: machineUserId, name: 'seeded' },
  endpoint: { id: endpointId, consumeURL: `/${endpointId}` },
})
const rowsOf = async (endpointId: string): Promise<unknown> => (await accessOf(admin, endpointId)).data.rows

describe('letting a machine user call an endpoint', () => {
  test('[endpoint-access.create] [endpoint-access.query] the row is stored, answered, listed and audited', async () => {
    const [endpointID, machineUserID] = [await newEndpoint(), await newMachineUser()]
    const made = await allow(admin, { endpointID, machineUserID, enabled: false })
    expect(made.data.row).toEqual(shown(uuid, false, endpointID, machineUserID))
    const { id } = made.data.row as { id: string }
    expect(await rowsOf(endpointID)).toEqual([made.data.row])
    expect((await oneAccess(admin, endpointID, id)).data.row).toEqual(made.data.row)
    expect(await auditOf(id)).toMatchObject([
      {
        action: 'create',
        user_id: admin.id,
        changes: {
          machineUserId: { before: null, after: machineUserID },
          endpointId: { before: null, after: endpointID },
          enabled: { before: null, after: false },
        },
      },
    ])
  })

  test('[endpoint-access.create] the row is enabled unless it says otherwise, on every call of the same text', async () => {
    const machineUserID = await newMachineUser()
    for (const given of [{}, { enabled: null }, { enabled: true }, {}, {}]) {
      const endpointID = await newEndpoint()
      const { data } = await allow(admin, { endpointID, machineUserID, ...given })
      expect(data.row).toEqual(shown(uuid, true, endpointID, machineUserID))
    }
  })

  test('[endpoint-access.create] upper and lower case spell one id', async () => {
    const [endpointID, machineUserID] = [await newEndpoint(), await newMachineUser()]
    const answer = await allow(admin, {
      endpointID: endpointID.toUpperCase(),
      machineUserID: machineUserID.toUpperCase(),
    })
    expect(answer.data.row).toEqual(shown(uuid, true, endpointID, machineUserID))
  })

  test('[endpoint-access.create] an unknown endpoint or machine user is an error and leaves nothing', async () => {
    const [endpointID, machineUserID] = [await newEndpoint(), await newMachineUser()]
    for (const unknown of [randomUUID(), 'nothing', '']) {
      const noEndpoint = await allow(admin, { endpointID: unknown, machineUserID })
      expect(noEndpoint.error).toBe('endpoint not found')
      expectRefused(noEndpoint, 'not_found')
      const noMachineUser = await allow(admin, { endpointID, machineUserID: unknown })
      expect(noMachineUser.error).toBe('machine user not found')
      expectRefused(noMachineUser, 'not_found')
    }
    expect((await allow(admin, { endpointID: machineUserID, machineUserID: endpointID })).error).toBe(
      'endpoint not found',
    )
    expect(await rowsOf(endpointID)).toEqual([])
  })

  test('[endpoint-access.create] there is one row for a pair; a second is refused and says what to do', async () => {
    const { id, endpointId, machineUserId } = await newAccess()
    const again = await allow(admin, { endpointID: endpointId, machineUserID: machineUserId, enabled: false })
    expect(again.error).toBe(
      'the machine user already has an access row for this endpoint; update it with updateMachineUser2Endpoint',
    )
    expectRefused(again, 'conflict')
    expect(await rowsOf(endpointId)).toEqual([shown(id, true, endpointId, machineUserId)])
    // The endpoint and the machine user can each have other access rows.
    for (const input of [
      { endpointID: endpointId, machineUserID: await newMachineUser() },
      { endpointID: await newEndpoint(), machineUserID: machineUserId },
    ])
      expect((await allow(admin, input)).error).toBeNull()
    await withdraw(admin, id)
    expect((await allow(admin, { endpointID: endpointId, machineUserID: machineUserId })).error).toBeNull()
  })

  test('[endpoint-access.create] of five rows for one pair that are made at once, one is', async () => {
    const [endpointID, machineUserID] = [await newEndpoint(), await newMachineUser()]
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => allow(admin, { endpointID, machineUserID })),
    )
    expect(answers.filter(({ error }) => error === null)).toHaveLength(1)
    for (const answer of answers.filter(({ error }) => error !== null)) expectRefused(answer, 'conflict')
    expect(await rowsOf(endpointID)).toHaveLength(1)
  })
})

describe('reading', () => {
  test('[endpoint-access.query] shows the rows of one endpoint, filtered by machine user and by enabled', async () => {
    const { id, endpointId, machineUserId } = await newAccess()
    const second = await allow(admin, {
      endpointID: endpointId,
      machineUserID: await newMachineUser(),
      enabled: false,
    })
    await newAccess()
    const first = shown(id, true, endpointId, machineUserId)
    expect(await rowsOf(endpointId)).toEqual(expect.arrayContaining([first, second.data.row]))
    expect(await rowsOf(endpointId)).toHaveLength(2)
    const by = async (field: string, value: string): Promise<unknown> => {
      const { data } = await service.query(
        admin,
        `query($id: ID!, $filters: [Filter!]) { rows: machineUser2endpoints(endpoint: $id, filters: $filters) { id } }`,
        { id: endpointId, filters: { field, value } },
      )
      return data.rows
    }
    expect(await by('enabled', 'true')).toEqual([{ id }])
    expect(await by('machineUserId', machineUserId)).toEqual([{ id }])
    expect(await by('id', second.data.row.id as string)).toEqual([{ id: second.data.row.id as string }])
  })

  test("[endpoint-access.query] another endpoint's row, and what is unknown, is not found", async () => {
    const { id, endpointId } = await newAccess()
    for (const wrong of [randomUUID(), 'nothing', endpointId, (await newAccess()).id])
      expect((await oneAccess(admin, endpointId, wrong)).error).toBe('machineUser2Endpoint not found')
    for (const unknown of [randomUUID(), 'nothing', id]) {
      expect((await accessOf(admin, unknown)).error).toBe('endpoint not found')
      expect((await oneAccess(admin, unknown, id)).error).toBe('endpoint not found')
    }
  })

  test('many rows with what they join cost as many statements as one', async () => {
    const reader = await memberOf('readonly')
    const counts = []
    for (const size of [1, 30]) {
      const endpointId = await newEndpoint()
      for (let index = 0; index < size; index++) {
        const machineUserId = await newMachineUser()
        await seedEndpointAccess(service.sql, { projectId: project.id, endpointId, machineUserId })
      }
      service.statements.length = 0
      const { data } = await accessOf(reader, endpointId, 'machineUser { name } endpoint { name }')
      const row = { machineUser: { name: 'seeded' }, endpoint: { name: 'seeded' } }
      expect(data.rows).toEqual(Array.from({ length: size }, () => row))
      counts.push(service.statements.length)
    }
    expect(counts[1]).toBe(counts[0])
  })
})

describe('changing', () => {
  test('[endpoint-access.change] the row is switched off and on; null and absent leave it; each change is audited', async () => {
    const { id, endpointId, machineUserId } = await newAccess()
    for (const [input, enabled] of [
      [{ enabled: false }, false],
      [{}, false],
      [{ enabled: null }, false],
      [{ enabled: true }, true],
      [{ enabled: null }, true],
    ] as const) {
      const expected = shown(id, enabled, endpointId, machineUserId)
      expect((await change(admin, id, input)).data.row).toEqual(expected)
      expect(await rowsOf(endpointId)).toEqual([expected])
    }
    const toggles = (await auditOf(id)).filter(({ changes }) => Object.keys(changes).length > 0)
    expect(toggles.map(({ action, changes }) => [action, changes])).toEqual([
      ['update', { enabled: { before: true, after: false } }],
      ['update', { enabled: { before: false, after: true } }],
    ])
  })

  test('[endpoint-access.change] a removed row is gone; the endpoint and the machine user stay', async () => {
    const { id, endpointId, machineUserId } = await newAccess()
    expect((await withdraw(admin, id)).data).toEqual({ done: true })
    expect(await rowsOf(endpointId)).toEqual([])
    for (const answer of [
      await withdraw(admin, id),
      await change(admin, id, { enabled: true }),
      await oneAccess(admin, endpointId, id),
      await withdraw(admin, randomUUID()),
      await withdraw(admin, 'nothing'),
    ])
      expect(answer.error).toBe('machineUser2Endpoint not found')
    expect((await auditOf(id)).map(({ action }) => action)).toEqual(['delete'])
    const { rowCount } = await service.sql.query('select 1 from machine_users where id = $1', [machineUserId])
    expect(rowCount).toBe(1)
    expect((await endpoints.get(admin, project.applicationId, endpointId)).error).toBeNull()
  })

  test('[endpoint-access.change] a row goes with its endpoint and with its machine user', async () => {
    const [first, second] = [await newAccess(), await newAccess()]
    await endpoints.remove(admin, first.endpointId)
    expect((await change(admin, first.id, {})).error).toBe('machineUser2Endpoint not found')
    await service.query(admin, 'mutation($id: ID!) { deleteMachineUser(id: $id) }', {
      id: second.machineUserId,
    })
    expect(await rowsOf(second.endpointId)).toEqual([])
  })
})

test('[endpoint-access.role] maintainers, owners and administrators manage; others read at most, and change nothing', async () => {
  const operations = async (): Promise<((caller: Person) => Promise<GraphqlAnswer>)[]> => {
    const [{ id }, endpointID, machineUserID] = [
      await newAccess(),
      await newEndpoint(),
      await newMachineUser(),
    ]
    return [
      (caller) => allow(caller, { endpointID, machineUserID }),
      (caller) => change(caller, id, { enabled: false }),
      (caller) => withdraw(caller, id),
    ]
  }
  for (const caller of [admin, await memberOf('maintainer'), await memberOf('owner')])
    for (const operation of await operations()) expect((await operation(caller)).error).toBeNull()
  const { id, endpointId } = await newAccess()
  const state = async () => (await service.sql.query('select * from machine_user2endpoints order by id')).rows
  for (const [caller, code] of [
    [await memberOf('readonly'), 'forbidden'],
    [await memberOf('tester'), 'forbidden'],
    [await memberOf('developer'), 'forbidden'],
    [await memberOf(null), 'not_found'],
    [await memberOf('owner', { projectId: other.id }), 'not_found'],
    [await memberOf('owner', { tenantId: project.tenantId }), 'not_found'],
    [await memberOf('normal', { applicationId: project.applicationId }), 'not_found'],
  ] as const) {
    const tried = await operations()
    const before = await state()
    for (const operation of tried) expectRefused(await operation(caller), code)
    expect(await state()).toEqual(before)
    const answers = [await accessOf(caller, endpointId), await oneAccess(caller, endpointId, id)]
    for (const answer of answers)
      expect(answer.error).toBe(code === 'forbidden' ? null : 'endpoint not found')
  }
})

describe('across projects', () => {
  test('[endpoint-access.create] the API refuses a machine user of another project, also for whoever owns both', async () => {
    const owner = await memberOf('owner')
    await seedMember(service.sql, owner, 'owner', { projectId: other.id })
    for (const caller of [admin, owner])
      for (const [here, there] of [
        [project, other],
        [other, project],
      ] as const) {
        const endpointID = await newEndpoint(here)
        const answer = await allow(caller, { endpointID, machineUserID: await newMachineUser(there) })
        // The response is identical to the one for an unknown machine user.
        expect(answer.error).toBe('machine user not found')
        expectRefused(answer, 'not_found')
        expect(await rowsOf(endpointID)).toEqual([])
      }
  })

  test('[endpoint-access.create] the database refuses it too, whichever project the row names', async () => {
    const [endpointId, machineUserId] = [await newEndpoint(), await newMachineUser()]
    const [foreignEndpoint, foreignMachineUser] = [await newEndpoint(other), await newMachineUser(other)]
    for (const { id: projectId } of [project, other])
      for (const pair of [
        { endpointId, machineUserId: foreignMachineUser },
        { endpointId: foreignEndpoint, machineUserId },
      ])
        await expect(seedEndpointAccess(service.sql, { projectId, ...pair })).rejects.toMatchObject({
          code: '23503',
        })
    const id = await seedEndpointAccess(service.sql, { projectId: project.id, endpointId, machineUserId })
    for (const [column, value] of [
      ['endpoint_id', foreignEndpoint],
      ['machine_user_id', foreignMachineUser],
      ['project_id', other.id],
    ] as const)
      await expect(
        service.sql.query(`update machine_user2endpoints set ${column} = $1 where id = $2`, [value, id]),
      ).rejects.toMatchObject({ code: '23503' })
  })
})
