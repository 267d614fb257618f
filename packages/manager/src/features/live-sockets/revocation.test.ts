// These tests check that sockets are closed when access is revoked, and only then.
import { describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { startTestApp } from '../../../test/kit/app.ts'
import { liveHint, publishFromOtherProcess } from '../../../test/kit/hints.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedMember, seedProject } from '@manager/harness/seed.ts'
import { type Seat, type TestSocket, openSocket } from '../../../test/kit/sockets.ts'

const { service, project, admin, person, member: staff } = useProject()

const seatOf = ({ id }: Person, place = project): Seat => ({
  userId: id,
  tenantId: place.tenantId,
  applicationId: place.applicationId,
})
const open = async (seat: Seat, url = service.url): Promise<TestSocket> => {
  const socket = openSocket(url, seat)
  await socket.hello
  return socket
}
const change = async (text: string, variables: Record<string, unknown>): Promise<void> => {
  const answer = await service.query(admin, text, variables)
  expect(answer.error).toBeNull()
}
const isOpen = ({ client }: TestSocket): boolean => client.readyState === 1

// Each test waits for the next check of the service, so they run concurrently.
describe.concurrent('a socket is closed with 4500 within seconds', () => {
  test('after the user was removed from the tenant; those of others stay [websocket.close-revoked]', async () => {
    const [ann, bob] = [await person('ann'), await person('bob')]
    const of = { projectId: project.id, tenantId: project.tenantId }
    const row = await seedMember(service.sql, ann, 'member', of)
    await seedMember(service.sql, bob, 'member', of)
    const [gone, also, stays] = await Promise.all([ann, ann, bob].map((one) => open(seatOf(one))))
    await change('mutation($id: ID!) { removeUserFromTenant(id: $id) }', { id: row })
    expect(await Promise.all([gone?.closed, also?.closed])).toEqual([4500, 4500])
    expect(isOpen(stays as TestSocket)).toBe(true)
    expect(await openSocket(service.url, seatOf(ann)).closed).toBe(4500)
    stays?.client.close()
  })

  test('after the application was disabled for the tenant, or the tenant deleted [websocket.close-revoked]', async () => {
    const [near, far] = [await seedProject(service.sql, 'near'), await seedProject(service.sql, 'far')]
    const [here, there] = [await open(seatOf(admin, near)), await open(seatOf(admin, far))]
    await change('mutation($id: ID!) { updateTenant2Application(id: $id, input: {enabled: false}) { id } }', {
      id: near.tenant2ApplicationId,
    })
    expect(await here.closed).toBe(4500)
    expect(isOpen(there)).toBe(true)
    await change('mutation($id: ID!) { deleteTenant(id: $id) }', { id: far.tenantId })
    expect(await there.closed).toBe(4500)
  })

  test('after a project member was removed [websocket.close-revoked]', async () => {
    const helper = await staff('kim', 'developer')
    const socket = await open(seatOf(helper))
    await service.sql.query('delete from user2projects where user_id = $1', [helper.id])
    expect(await socket.closed).toBe(4500)
  })

  test('after an administrator was demoted, which is of no project [websocket.close-revoked]', async () => {
    const boss = await person('boss')
    const setRole = (role: string) =>
      service.sql.query('update users set role = $2 where id = $1', [boss.id, role])
    await setRole('administrator')
    const socket = await open(seatOf(boss))
    await setRole('user')
    expect(await socket.closed).toBe(4500)
  })

  test('after the role lost apps.read; another role with it is taken over, and its hints come [websocket.close-revoked]', async ({
    expect,
  }) => {
    await service.sql.query(
      `insert into tenant_role_definitions (id, project_id, tenant_id, name, permissions)
       values (gen_random_uuid(), $1, $2, 'guest', '{apps.read}'), (gen_random_uuid(), $1, $2, 'watcher', '{members}')`,
      [project.id, project.tenantId],
    )
    const cara = await person('cara')
    const of = { projectId: project.id, tenantId: project.tenantId }
    const id = await seedMember(service.sql, cara, 'member', of)
    const socket = await open(seatOf(cara))
    const become = (role: string) =>
      change('mutation($id: ID!, $role: String!) { updateUserTenantRole(id: $id, roleName: $role) { id } }', {
        id,
        role,
      })
    await become('guest')
    const audience = { users: [], roles: ['guest'], members: false }
    await expect
      .poll(
        () => {
          publishFromOtherProcess(service, { ...liveHint(project, 'for guests'), audience })
          return socket.frames.some(({ data }) => data === 'for guests')
        },
        { timeout: 30_000, interval: 200 },
      )
      .toBe(true)
    expect(isOpen(socket)).toBe(true)
    await become('watcher')
    expect(await socket.closed).toBe(4500)
  })

  test('where nothing changed that marks a version, by the check of everyone', async () => {
    const app = await startTestApp({
      env: { SVC_COMMS_ACCESS_CHECK_INTERVAL: '1s' },
      database: service.database,
    })
    const dan = await person('dan')
    await seedMember(service.sql, dan, 'member', { projectId: project.id, tenantId: project.tenantId })
    const socket = await open(seatOf(dan), app.url)
    // Simulates a missing version trigger.
    await service.sql.query(`
      begin; set local session_replication_role = replica;
      delete from user2tenants where user_id = '${dan.id}'; commit`)
    expect(await socket.closed).toBe(4500)
    await app.close()
  })
})

describe('a database that is away', () => {
  test('closes no socket, and lets none in: 4000, come back later', async () => {
    let isAway = false
    const { database } = service.world
    const away: typeof database = {
      ...database,
      run: (statement, values) =>
        isAway ? Promise.reject(new Error('the database is away')) : database.run(statement, values),
    }
    const app = await startTestApp({
      env: { SVC_COMMS_ACCESS_CHECK_INTERVAL: '1s' },
      database: service.database,
      world: { database: { ...away, close: () => Promise.resolve() } },
    })
    const socket = await open(seatOf(admin), app.url)
    isAway = true
    const warned = () =>
      app.logLines.filter(({ msg }) => String(msg).startsWith('cannot check websocket access'))
    await expect.poll(warned, { timeout: 30_000 }).toHaveLength(1)
    expect(await openSocket(app.url, seatOf(admin)).closed).toBe(4000)
    expect(isOpen(socket)).toBe(true)
    isAway = false
    await expect.poll(async () => isOpen(await open(seatOf(admin), app.url))).toBe(true)
    expect(isOpen(socket)).toBe(true)
    await app.close()
    expect(await socket.closed).toBe(4000)
  })
})
