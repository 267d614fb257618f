// Tests the list of registered backends that members of a project see.
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { backdateHeartbeat, register } from '@manager/harness/backends.ts'
import { seedMachineUser, seedMember } from '@manager/harness/seed.ts'
import { seedBackend } from '../../../test/kit/backends.ts'
import { useProject } from '../../../test/kit/project.ts'

const { service, admin, project, other, person, member } = useProject({ withOther: true })
beforeEach(async () => {
  await service.sql.query('delete from backend_registrations')
  await service.sql.query(
    `update heartbeat_reception set received_until = 'infinity',
       outage_from = now() - interval '3 days', outage_until = now() - interval '3 days'`,
  )
})

type Args = { applicationId?: string; environmentId?: string; filters?: object; order?: object }
const list = (caller: Person, args: Args = {}, fields = 'id isLive') =>
  service.query(
    caller,
    `query($applicationId: ID!, $environmentId: ID, $filters: [Filter!], $order: [Order!]) {
      rows: backends(applicationId: $applicationId, environmentId: $environmentId, filters: $filters, order: $order) { ${fields} }
    }`,
    { applicationId: project.applicationId, ...args },
  )

describe('registered backends', () => {
  test('are listed with their links, and only with the origin of the callback URL', async () => {
    const { id: machineUserId, token } = await seedMachineUser(service.sql, project)
    const callback_url = 'https://backend.example.com:8443/hooks/s3cret?key=s3cret'
    const { body } = await register(service, token, {
      application_id: project.applicationId,
      callback_url,
      version: '1.2.3',
    })
    const { data, error } = await list(
      admin,
      {},
      `id application { slug } environment { name } machineUser { id username } callbackOrigin version lastHeartbeat
       isLive registeredAt`,
    )
    expect(error).toBeNull()
    expect(data.rows).toEqual([
      {
        id: body.registered_id,
        application: { slug: project.applicationSlug },
        environment: { name: 'dev' },
        machineUser: { id: machineUserId, username: expect.stringMatching(/^Bearer:/) },
        callbackOrigin: 'https://backend.example.com:8443',
        version: '1.2.3',
        lastHeartbeat: expect.stringMatching(/^\d{4}-.*Z$/),
        isLive: true,
        registeredAt: expect.stringMatching(/^\d{4}-.*Z$/),
      },
    ])
    expect(JSON.stringify(data)).not.toMatch(/s3cret|whsec_/)
    for (const field of ['callbackUrl', 'callbackToken', 'signingSecret'])
      expect((await list(admin, {}, field)).error).toContain('Cannot query field')
    for (const field of ['callbackUrl', 'callbackOrigin', 'callbackToken'])
      expect((await list(admin, { filters: { field, value: 'https' } })).error).toContain(
        'unknown filter field',
      )
  })

  test('are live as long as callbacks are sent to them, by the clock of the database', async () => {
    const ids = {
      live: await seedBackend(service.sql, project),
      stale: await seedBackend(service.sql, project),
      disabled: await seedBackend(service.sql, project),
    }
    await backdateHeartbeat(service, ids.live, '80 seconds')
    await backdateHeartbeat(service, ids.stale, '100 seconds')
    await service.sql.query(
      'update machine_users set enabled = false where id = (select machine_user_id from backend_registrations where id = $1)',
      [ids.disabled],
    )
    const liveness = async () => {
      const { data } = await list(admin)
      const rows = data.rows as { id: string; isLive: boolean }[]
      return Object.fromEntries(rows.map(({ id, isLive }) => [id, isLive]))
    }
    expect(await liveness()).toEqual({ [ids.live]: true, [ids.stale]: false, [ids.disabled]: false })
    // A period in which the service received no heartbeats does not count.
    await service.sql.query(
      "update heartbeat_reception set outage_from = now() - interval '60 seconds', outage_until = now()",
    )
    expect(await liveness()).toEqual({ [ids.live]: true, [ids.stale]: true, [ids.disabled]: false })
  })

  test('cost the same number of statements for one backend and for many', async () => {
    const count = async () => {
      service.statements.length = 0
      expect((await list(admin, {}, 'id isLive machineUser { id } environment { id }')).error).toBeNull()
      return service.statements.length
    }
    await seedBackend(service.sql, project)
    const one = await count()
    for (let index = 0; index < 5; index++) await seedBackend(service.sql, project)
    expect(await count()).toBe(one)
  })

  test('are limited to the application, and to an environment if one is given', async () => {
    const [own, foreign] = [await seedBackend(service.sql, project), await seedBackend(service.sql, other)]
    const idsOf = async (args: Args) =>
      ((await list(admin, args)).data.rows as { id: string }[]).map(({ id }) => id)
    expect(await idsOf({})).toEqual([own])
    expect(await idsOf({ applicationId: other.applicationId })).toEqual([foreign])
    expect(await idsOf({ environmentId: project.environmentId })).toEqual([own])
    for (const environmentId of [other.environmentId, randomUUID(), 'nothing'])
      expect(await idsOf({ environmentId })).toEqual([])
    const order = { field: 'lastHeartbeat', direction: 'DESC' }
    expect(await idsOf({ filters: { field: 'version', value: '1.0' }, order })).toEqual([own])
  })

  test('are visible to project members only', async () => {
    await seedBackend(service.sql, project)
    expect((await list(await member('reader', 'readonly'))).data.rows).toHaveLength(1)
    const [stranger, foreigner, guest] = [
      await person('stranger'),
      await person('foreigner'),
      await person('guest'),
    ]
    await seedMember(service.sql, foreigner, 'owner', { projectId: other.id })
    for (const caller of [stranger, foreigner])
      expect((await list(caller)).error).toBe('application not found')
    const { id: projectId, applicationId } = project
    await seedMember(service.sql, guest, 'normal', { projectId, applicationId })
    expect((await list(guest)).error).toContain('not permitted: requires project role readonly')
  })
})
