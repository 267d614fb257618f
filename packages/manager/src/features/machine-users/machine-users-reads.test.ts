// Tests the lists of a project's machine users, and when each machine user was last used.
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { bearer, call, throughProxy } from '@manager/harness/credentials.ts'
import { seedMachineUser, seedMember } from '@manager/harness/seed.ts'
import { startTestApp } from '../../../test/kit/app.ts'
import { useProject } from '../../../test/kit/project.ts'

const { service, admin, project, other, person, member } = useProject({ withOther: true })
beforeEach(() => service.sql.query('delete from machine_users'))

const read = (caller: Person, field: string, args: Record<string, unknown> = {}, fields = 'id') => {
  const takesDays = field === 'machineUsersToRotate'
  return service.query(
    caller,
    `query($projectId: ID!, ${takesDays ? '$days: Int = 90, ' : ''}$filters: [Filter!], $order: [Order!]) {
      rows: ${field}(projectId: $projectId, ${takesDays ? 'days: $days, ' : ''}filters: $filters, order: $order) { ${fields} } }`,
    { projectId: project.id, ...args },
  )
}
const idsOf = async (field: string, args: Record<string, unknown> = {}): Promise<string[]> => {
  const { data, error } = await read(admin, field, args)
  expect(error).toBeNull()
  return (data.rows as { id: string }[]).map(({ id }) => id)
}
/** Seeds a machine user in an environment of the project. */
const seedIn = async (name: string): Promise<string> => {
  const { rows } = await service.sql.query<{ id: string }>(
    'select id from environments where project_id = $1 and name = $2',
    [project.id, name],
  )
  return (await seedMachineUser(service.sql, { ...project, environmentId: rows[0]?.id as string })).id
}
/** Sets how many days ago the credential was created and last rotated; null if it was never rotated. */
const backdate = (id: string, created: number, rotated: number | null = null) =>
  service.sql.query(
    `update machine_users set created_at = now() - make_interval(days => $2),
       last_rotated_at = now() - make_interval(days => $3) where id = $1`,
    [id, created, rotated],
  )

describe('the machine users of a project', () => {
  test('are those of all its environments, in one statement', async () => {
    const ids = [await seedIn('dev'), await seedIn('qas'), await seedIn('run')]
    for (const [index, id] of ids.entries()) await backdate(id, ids.length - index)
    await seedMachineUser(service.sql, other)
    expect((await idsOf('projectMachineUsers')).toSorted()).toEqual(ids.toSorted())
    const environmentId = { field: 'environmentId', value: project.environmentId }
    expect(await idsOf('projectMachineUsers', { filters: environmentId })).toEqual([ids[0]])
    service.statements.length = 0
    const order = { field: 'createdAt', direction: 'DESC' }
    expect(await idsOf('projectMachineUsers', { order })).toEqual(ids.toReversed())
    expect(service.statements.filter((text) => text.includes('machine_users'))).toHaveLength(1)
  })

  test('are visible to project members only', async () => {
    await seedIn('dev')
    const [stranger, foreigner, guest] = [
      await person('stranger'),
      await person('foreigner'),
      await person('guest'),
    ]
    await seedMember(service.sql, foreigner, 'owner', { projectId: other.id })
    const { id: projectId, tenantId } = project
    await seedMember(service.sql, guest, 'owner', { projectId, tenantId })
    const reader = await member('reader', 'readonly')
    for (const field of ['projectMachineUsers', 'machineUsersToRotate']) {
      expect((await read(reader, field)).error).toBeNull()
      for (const caller of [stranger, foreigner])
        expect((await read(caller, field)).error).toBe('project not found')
      expect((await read(guest, field)).error).toContain('not permitted')
      expect((await read(admin, field, { projectId: randomUUID() })).error).toBe('project not found')
    }
  })
})

describe('machine users to rotate', () => {
  test('are enabled, and their credential was created or rotated too long ago', async () => {
    const ids = {
      old: await seedIn('dev'),
      rotated: await seedIn('dev'),
      staleRotation: await seedIn('qas'),
      young: await seedIn('dev'),
      disabled: await seedIn('run'),
      foreign: (await seedMachineUser(service.sql, other)).id,
    }
    await backdate(ids.old, 91)
    await backdate(ids.rotated, 401, 10)
    await backdate(ids.staleRotation, 400, 100)
    await backdate(ids.young, 89)
    await backdate(ids.disabled, 400)
    await backdate(ids.foreign, 400)
    await service.sql.query('update machine_users set enabled = false where id = $1', [ids.disabled])
    const order = { field: 'createdAt', direction: 'ASC' }
    expect(await idsOf('machineUsersToRotate', { order })).toEqual([ids.staleRotation, ids.old])
    expect(await idsOf('machineUsersToRotate', { days: 95 })).toEqual([ids.staleRotation])
    expect(await idsOf('machineUsersToRotate', { days: 5, order })).toEqual([
      ids.rotated,
      ids.staleRotation,
      ids.old,
      ids.young,
    ])
    expect(await idsOf('machineUsersToRotate', { days: null, order })).toHaveLength(2)
    for (const days of [0, -1, 3_651])
      expect((await read(admin, 'machineUsersToRotate', { days })).error).toBe('days must be from 1 to 3650')
  })
})

describe('the last use of a machine user', () => {
  const lastUses = async () => {
    const { data } = await read(admin, 'projectMachineUsers', {}, 'id lastUsedAt revision updatedAt')
    const rows = data.rows as { id: string; lastUsedAt: string | null; revision: number }[]
    return new Map(rows.map((row) => [row.id, row]))
  }

  test('is recorded when its token is used, and is no change of the machine user', async () => {
    const [used, idle] = [await seedMachineUser(service.sql, project), await seedIn('run')]
    const before = await lastUses()
    expect(before.get(used.id)?.lastUsedAt).toBeNull()
    const replica = await startTestApp({ database: service.database })
    await call(replica.url, '/api/machine/nothing', { ...throughProxy(), ...bearer(used.token) })
    await replica.close()
    const after = await lastUses()
    const { lastUsedAt, ...rest } = after.get(used.id) ?? { lastUsedAt: null }
    expect(Math.abs(Date.parse(lastUsedAt ?? '') - Date.now())).toBeLessThan(60_000)
    expect({ ...rest, lastUsedAt: null }).toEqual(before.get(used.id))
    expect(after.get(idle)).toEqual(before.get(idle))
  })

  test('is read in one statement for a page', async () => {
    for (let index = 0; index < 5; index++) await seedIn('dev')
    service.statements.length = 0
    await lastUses()
    expect(service.statements.filter((text) => text.includes('machine_user_activity'))).toHaveLength(1)
  })
})
