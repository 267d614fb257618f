// This test emits a notification for 100,000 users.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { emit, generousLimits, targetFields, seedTenantMember } from '../../../test/kit/comms.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedMachineUser, seedTenant } from '@manager/harness/seed.ts'

const { service, project } = useProject({ env: generousLimits })
let token: string
let reader: string
beforeAll(async () => {
  token = (await seedMachineUser(service.sql, project)).token
  reader = await seedTenantMember(service, project)
})

describe('a tenant of 100,000 members', () => {
  const tenantId = randomUUID()
  const place = () => ({ ...targetFields(project), tenant_id: tenantId })
  beforeAll(async () => {
    await seedTenant(service.sql, project.id, tenantId, 'large')
    await service.sql.query(
      `insert into tenant2applications (id, project_id, tenant_id, application_id, enabled)
       values (gen_random_uuid(), $1, $2, $3, true)`,
      [project.id, tenantId, project.applicationId],
    )
    // Triggers and checks are disabled, because they would take most of the time.
    const client = await service.sql.connect()
    await client.query('set session_replication_role = replica')
    await client.query(
      `with added as (
         insert into users (id, external_name, external_username, external_email, role)
         select gen_random_uuid(), 'many', 'many' || n, 'many' || n, 'user' from generate_series(1, 100000) n
         returning id)
       insert into user2tenants (id, project_id, tenant_id, user_id, role_name)
       select gen_random_uuid(), $1, $2, id, 'member' from added`,
      [project.id, tenantId],
    )
    client.release(true)
    await service.sql.query('analyze')
  })

  test('[comms.emit-recipients] gets a notification in one statement, within its time', async () => {
    for (const extras of [{}, { type: 'a.b', expires_at: '2099-01-01T00:00:00Z' }, { roles: ['member'] }]) {
      service.statements.length = 0
      const began = performance.now()
      const { status, body } = await emit(service, token, { ...place(), ...extras })
      const ms = performance.now() - began
      expect([status, body.recipient_count]).toEqual([202, 100_000])
      expect(service.statements).toHaveLength(2)
      process.stdout.write(`100,000 recipients ${JSON.stringify(extras)}: ${ms.toFixed(0)} ms\n`)
      expect(ms).toBeLessThan(30_000)
    }
  })

  test('and meanwhile emits that name their recipients go on', async () => {
    const began = performance.now()
    const large = emit(service, token, place())
    const ended = large.then(() => true)
    const waits: number[] = []
    /** Emits another notification and returns whether the large emit has finished. */
    const isOver = async (): Promise<boolean> => {
      const sentAt = performance.now()
      const { status } = await emit(service, token, { ...targetFields(project), recipients: [reader] })
      expect(status).toBe(202)
      waits.push(performance.now() - sentAt)
      return Promise.race([ended, Promise.resolve(false)])
    }
    while (!(await isOver()));
    expect((await large).status).toBe(202)
    const [all, longest] = [performance.now() - began, Math.max(...waits)]
    process.stdout.write(
      `${waits.length} emits in ${all.toFixed(0)} ms, the longest ${longest.toFixed(0)} ms\n`,
    )
    expect(waits.length).toBeGreaterThan(3)
    expect(longest).toBeLessThan(Math.max(1_000, all / 2))
  })
})
