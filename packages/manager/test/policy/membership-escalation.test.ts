// Tests role escalation in tenants, in applications and at system level. Covers the tables of grants, and
// races between a grant and the loss of the required right. The file escalation.test.ts covers projects.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { waitForLockWait } from '../kit/locks.ts'
import { memberCalls } from '../kit/members.ts'
import { type SeededProject, seedMember, seedProject, seedUser } from '@manager/harness/seed.ts'

let service: TestApp
let project: SeededProject
beforeAll(async () => {
  service = await startTestApp({ env: { SVC_DATABASE_POOL_SIZE: '10' } })
  project = await seedProject(service.sql, 'escalation')
  for (const [name, permissions] of Object.entries(customRoles))
    await service.sql.query(
      `insert into tenant_role_definitions (id, project_id, tenant_id, name, permissions, seeded)
       values (gen_random_uuid(), $1, $2, $3, $4, false)`,
      [project.id, project.tenantId, name, permissions],
    )
  // Add more owners, so that the last-owner rule does not affect the tables.
  for (const scope of [ofTenant(), ofProject()])
    await seedMember(service.sql, await seedUser(service.sql, 'spare'), 'owner', scope)
})
afterAll(() => service.close())

const customRoles = { reader: ['apps.read'], gatekeeper: ['apps.read', 'members'] }
const permissionsOf: Record<string, readonly string[]> = {
  ...customRoles,
  member: ['apps.read'],
  admin: ['apps.read', 'apps.configure', 'members', 'invites'],
  owner: ['apps.read', 'apps.configure', 'members', 'invites'],
}
const tenantRoles = Object.keys(permissionsOf)
const projectRoles = ['readonly', 'tester', 'developer', 'maintainer', 'owner']
const ofProject = () => ({ projectId: project.id })
const ofTenant = () => ({ projectId: project.id, tenantId: project.tenantId })
const ofApplication = () => ({ projectId: project.id, applicationId: project.applicationId })
const calls = {
  Project: memberCalls('Project', () => service),
  Tenant: memberCalls('Tenant', () => service),
  Application: memberCalls('Application', () => service),
}
type EntityType = keyof typeof calls
const idOf = (entityType: EntityType): string =>
  ({ Project: project.id, Tenant: project.tenantId, Application: project.applicationId })[entityType]

/** Creates a person with this role: `tenant:admin`, `project:maintainer`, `administrator` or none. */
async function personWith(held: string | null): Promise<Person> {
  const person = await seedUser(service.sql, 'caller', held === 'administrator' ? 'administrator' : 'user')
  const [kind, role = ''] = held?.split(':') ?? []
  if (kind === 'tenant') await seedMember(service.sql, person, role, ofTenant())
  if (kind === 'project') await seedMember(service.sql, person, role, ofProject())
  if (kind === 'application') await seedMember(service.sql, person, role, ofApplication())
  return person
}

const roleIn = async (entityType: EntityType, person: Person): Promise<string | null> => {
  const [column, table] = [entityType === 'Tenant' ? 'role_name' : 'role', entityType.toLowerCase()]
  const { rows } = await service.sql.query<{ role: string }>(
    `select ${column} as role from user2${table}s where ${table}_id = $1 and user_id = $2`,
    [idOf(entityType), person.id],
  )
  return rows[0]?.role ?? null
}

type Change = { present: string | null; granted: string | null }

/** Tries every membership change as every caller, and returns the outcomes that contradict `may`. */
async function tryAll(
  entityType: EntityType,
  table: { callers: (string | null)[]; roles: string[] },
  may: (caller: string | null, present: string | null, granted: string | null) => boolean,
): Promise<{ cases: number; wrong: string[] }> {
  const scope = entityType === 'Tenant' ? ofTenant() : ofApplication()
  const { add, update, remove } = calls[entityType]
  const wrong: string[] = []
  let cases = 0
  const tryOne = async (held: string | null, caller: Person, change: Change): Promise<void> => {
    const { present, granted } = change
    const target = await seedUser(service.sql, 'target')
    const row = present === null ? '' : await seedMember(service.sql, target, present, scope)
    const answer =
      present === null
        ? await add(caller, { of: idOf(entityType), userID: target.id, role: granted as string })
        : granted === null
          ? await remove(caller, { id: row })
          : await update(caller, { id: row, role: granted })
    const [isPermitted, after] = [may(held, present, granted), await roleIn(entityType, target)]
    cases++
    if (after !== (isPermitted ? granted : present) || (answer.error === null) !== isPermitted)
      wrong.push(`${held}: ${present} -> ${granted} is ${after} (${answer.error})`)
  }
  const roles = [null, ...table.roles]
  const changes = roles
    .flatMap((present) => roles.map((granted): Change => ({ present, granted })))
    .filter(({ present, granted }) => present !== null || granted !== null)
  for (const held of table.callers) {
    const caller = await personWith(held)
    await Promise.all(changes.map((change) => tryOne(held, caller, change)))
  }
  return { cases, wrong }
}

const isAboveTenant = (held: string | null): boolean =>
  ['administrator', 'project:maintainer', 'project:owner'].includes(held ?? '')

describe('tables of grants', () => {
  test('[memberships.grant-not-above-own] [memberships.target-not-above-own] tenants: every caller x target x new role', async () => {
    const callers = [
      null,
      ...tenantRoles.map((role) => `tenant:${role}`),
      ...projectRoles.map((role) => `project:${role}`),
      'administrator',
    ]
    const reaches = (own: string, other: string | null): boolean =>
      other === null ||
      own === 'owner' ||
      (other !== 'owner' &&
        (permissionsOf[other] ?? []).every((permission) => (permissionsOf[own] ?? []).includes(permission)))
    const { cases, wrong } = await tryAll(
      'Tenant',
      { callers, roles: tenantRoles },
      (held, present, granted) => {
        const own = held?.startsWith('tenant:') === true ? held.slice('tenant:'.length) : null
        const canManageMembers = own !== null && permissionsOf[own]?.includes('members') === true
        return isAboveTenant(held) || (canManageMembers && reaches(own, present) && reaches(own, granted))
      },
    )
    process.stdout.write(`tenant escalation cases=${cases} wrong=${wrong.length}\n`)
    expect(wrong).toEqual([])
    expect(cases).toBe(12 * 35)
  }, 120_000)

  test('[memberships.grant-not-above-own] applications: every caller x target x new role', async () => {
    const roles = ['readonly', 'normal']
    const callers = [
      null,
      ...roles.map((role) => `application:${role}`),
      ...projectRoles.map((role) => `project:${role}`),
      'tenant:owner',
      'administrator',
    ]
    const { cases, wrong } = await tryAll('Application', { callers, roles }, isAboveTenant)
    process.stdout.write(`application escalation cases=${cases} wrong=${wrong.length}\n`)
    expect(wrong).toEqual([])
    expect(cases).toBe(10 * 8)
  }, 120_000)
})

describe('a right that is lost while it is used', () => {
  test('[memberships.no-self-raise] who leaves a tenant cannot be back as its owner, whichever comes first', async () => {
    const { add, remove } = calls.Tenant
    for (let round = 0; round < 40; round++) {
      const person = await seedUser(service.sql, 'leaver')
      const row = await seedMember(service.sql, person, 'admin', ofTenant())
      const both = [
        () => remove(person, { id: row }),
        () => add(person, { of: project.tenantId, userID: person.id, role: 'owner' }),
      ]
      await Promise.all((round % 2 === 0 ? both : both.toReversed()).map((call) => call()))
      expect(await roleIn('Tenant', person)).not.toBe('owner')
    }
  })

  /** Revokes a right in a separate transaction, and commits it once the grant waits for it. */
  async function grantDuring<Answer>(
    takeAway: { text: string; values: string[] }[],
    grant: () => Promise<Answer>,
  ): Promise<Answer> {
    const client = await service.sql.connect()
    await client.query('begin')
    for (const { text, values } of takeAway) await client.query(text, values)
    const answer = grant()
    await waitForLockWait(service.sql)
    await client.query('commit')
    client.release()
    return answer
  }

  test('[memberships.checked-in-transaction] a tenant: the removed caller is judged by what they held before their own new row', async () => {
    const person = await personWith('tenant:admin')
    const answer = await grantDuring(
      [
        { text: 'select from tenants where id = $1 for no key update', values: [project.tenantId] },
        { text: 'delete from user2tenants where user_id = $1', values: [person.id] },
      ],
      () => calls.Tenant.add(person, { of: project.tenantId, userID: person.id, role: 'owner' }),
    )
    expect(answer.error).toMatch(/^not permitted/)
    expect(await roleIn('Tenant', person)).toBeNull()
  })

  test('[memberships.checked-in-transaction] a tenant: a grant waits for a demotion under way and then fails', async () => {
    const [person, target] = [await personWith('tenant:admin'), await personWith(null)]
    const answer = await grantDuring(
      [
        { text: 'select from tenants where id = $1 for no key update', values: [project.tenantId] },
        { text: "update user2tenants set role_name = 'member' where user_id = $1", values: [person.id] },
      ],
      () => calls.Tenant.add(person, { of: project.tenantId, userID: target.id, role: 'admin' }),
    )
    expect(answer.error).toMatch(/^not permitted/)
    expect(await roleIn('Tenant', target)).toBeNull()
  })

  test('[memberships.checked-in-transaction] an application: a grant waits for a demotion under way and then fails', async () => {
    const [person, target] = [await personWith('project:maintainer'), await personWith(null)]
    const answer = await grantDuring(
      [{ text: "update user2projects set role = 'readonly' where user_id = $1", values: [person.id] }],
      () => calls.Application.add(person, { of: project.applicationId, userID: target.id, role: 'normal' }),
    )
    expect(answer.error).toMatch(/^not permitted/)
    expect(await roleIn('Application', target)).toBeNull()
  })

  const setSystemRole = (caller: Person, id: string, role: string) =>
    service.query(
      caller,
      'mutation($id: ID!, $role: String!) { updateUserSystemRole(id: $id, role: $role) { role } }',
      { id, role },
    )
  const systemRoleOf = async (person: Person): Promise<string | undefined> =>
    (await service.sql.query<{ role: string }>('select role from users where id = $1', [person.id])).rows[0]
      ?.role

  test('[memberships.checked-in-transaction] the system: a demoted administrator makes nobody administrator', async () => {
    const [falling, friend] = [await personWith('administrator'), await personWith(null)]
    const answer = await grantDuring(
      [{ text: "update users set role = 'user' where id = $1", values: [falling.id] }],
      () => setSystemRole(falling, friend.id, 'administrator'),
    )
    expect(answer.error).toMatch(/^not permitted/)
    expect(await systemRoleOf(friend)).toBe('user')
  })

  test('two administrators who demote each other at once leave one', async () => {
    for (let round = 0; round < 10; round++) {
      const [a, b] = [await personWith('administrator'), await personWith('administrator')]
      await Promise.all([setSystemRole(a, b.id, 'user'), setSystemRole(b, a.id, 'user')])
      const left = [await systemRoleOf(a), await systemRoleOf(b)]
      expect(left.filter((role) => role === 'administrator')).toHaveLength(1)
    }
  })
})
