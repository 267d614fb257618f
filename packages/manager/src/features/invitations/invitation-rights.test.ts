// Which roles a person may offer: at the time of the invitation, and again when it is accepted.
import { beforeAll, describe, expect, test } from 'vitest'
import { idOf, invitationCalls, seedInvitation } from '../../../test/kit/invitations.ts'
import { whileLocked, waitForLockWait } from '../../../test/kit/locks.ts'
import { useProject } from '../../../test/kit/project.ts'
import type { Person } from '@manager/harness/callers.ts'
import { seedMember, seedProject, seedTenant } from '@manager/harness/seed.ts'

const { service, admin, project, other, person, member } = useProject({ withOther: true })
const { invite, inviteOrFail, list, accept, revoke } = invitationCalls(() => service)

const email = 'guest@example.com'
const refusedInviter = 'the person who invited you may no longer grant this role; ask for a new invitation'
let guests = 0
const newGuest = (): Promise<Person> => person(`guest-${++guests}`)

/** Defines a tenant role and returns a person with this role. */
async function withTenantRole(name: string, permissions: string[]): Promise<Person> {
  const { error } = await service.query(
    admin,
    `mutation($tenant: ID!, $name: String!, $permissions: [String!]!) {
      createTenantRoleDefinition(tenantId: $tenant, input: {name: $name, permissions: $permissions}) { id } }`,
    { tenant: project.tenantId, name, permissions },
  )
  expect(error).toBeNull()
  const holder = await person(`holder-of-${name}`)
  await seedMember(service.sql, holder, name, { projectId: project.id, tenantId: project.tenantId })
  return holder
}

describe('offering', () => {
  test('[invitations.not-above-own] a maintainer offers no role above the own one, and an owner every role', async () => {
    const maintainer = await member('a-maintainer', 'maintainer')
    const owner = await member('an-owner', 'owner')
    for (const role of ['readonly', 'tester', 'developer', 'maintainer'])
      expect((await invite(maintainer, 'project', project.id, { email, role })).error).toBeNull()
    expect((await invite(maintainer, 'project', project.id, { email, role: 'owner' })).error).toBe(
      'not permitted: your role does not let you grant owner',
    )
    for (const caller of [owner, admin])
      expect((await invite(caller, 'project', project.id, { email, role: 'owner' })).error).toBeNull()
  })

  test('[invitations.rights] below maintainer, nobody invites to a project or an application', async () => {
    const developer = await member('a-developer', 'developer')
    const tenantOwner = await person('a-tenant-owner')
    const { id: projectId, tenantId } = project
    await seedMember(service.sql, tenantOwner, 'owner', { projectId, tenantId })
    for (const kind of ['project', 'application'] as const)
      for (const caller of [developer, tenantOwner]) {
        const answer = await invite(caller, kind, idOf(kind, project), { email, role: 'readonly' })
        expect(answer.error).toMatch(/^not permitted|not found$/)
        expect((await list(caller, kind, idOf(kind, project))).error).toMatch(/^not permitted|not found$/)
      }
    expect((await invite(developer, 'tenant', tenantId, { email, role: 'member' })).error).toMatch(
      /^not permitted/,
    )
  })

  test('[invitations.rights] ids of another project look like unknown ids', async () => {
    const maintainer = await member('curious', 'maintainer')
    for (const kind of ['project', 'tenant', 'application'] as const) {
      const id = idOf(kind, other)
      const role = kind === 'tenant' ? 'member' : 'readonly'
      expect((await invite(maintainer, kind, id, { email, role })).error).toBe(`${kind} not found`)
      expect((await list(maintainer, kind, id)).error).toBe(`${kind} not found`)
      const foreign = await seedInvitation(service.sql, other, { kind, role, inviter: admin })
      expect((await revoke(maintainer, foreign.id)).error).toBe('invitation not found')
    }
  })

  test('[invitations.subset] a holder of `invites` offers only permissions of the own role, and sees only that tenant', async () => {
    const { tenantId } = project
    await withTenantRole('reader', ['apps.read'])
    const inviter = await withTenantRole('inviter', ['apps.read', 'invites'])
    for (const role of ['member', 'reader', 'inviter'])
      expect([role, (await invite(inviter, 'tenant', tenantId, { email, role })).error]).toEqual([role, null])
    for (const role of ['admin', 'owner'])
      expect((await invite(inviter, 'tenant', tenantId, { email, role })).error).toBe(
        `not permitted: your role does not let you grant ${role}`,
      )
    const beside = '33333333-3333-7333-8333-333333333333'
    await seedTenant(service.sql, project.id, beside, 'beside')
    expect((await invite(inviter, 'tenant', beside, { email, role: 'member' })).error).toBe(
      'tenant not found',
    )
    expect((await list(inviter, 'tenant', tenantId)).error).toBeNull()
    const manager = await withTenantRole('manager', ['apps.read', 'members'])
    expect((await invite(manager, 'tenant', tenantId, { email, role: 'reader' })).error).toMatch(
      /^not permitted/,
    )
  })

  test('[invitations.revoke] a holder of `invites` revokes only invitations to roles that they may offer', async () => {
    const inviter = await withTenantRole('revoker', ['apps.read', 'invites'])
    const high = await inviteOrFail(admin, 'tenant', project.tenantId, { email, role: 'owner' })
    const low = await inviteOrFail(admin, 'tenant', project.tenantId, { email, role: 'member' })
    expect((await revoke(inviter, high.id)).error).toBe(
      'not permitted: your role does not let you grant owner',
    )
    expect((await revoke(inviter, low.id)).error).toBeNull()
    const ofProject = await inviteOrFail(admin, 'project', project.id, { email, role: 'readonly' })
    expect((await revoke(inviter, ofProject.id)).error).toBe('invitation not found')
  })
})

describe('the inviter is judged again', () => {
  const demote = (inviter: Person, role: string) =>
    service.sql.query('update user2projects set role = $2 where user_id = $1', [inviter.id, role])

  test('[invitations.judged-again] a role above the current role of the inviter is not granted', async () => {
    const inviter = await member('demoted', 'owner')
    const offers = {
      owner: await inviteOrFail(inviter, 'project', project.id, {
        email,
        role: 'owner',
        requireSameEmail: false,
      }),
      developer: await inviteOrFail(inviter, 'project', project.id, {
        email: `other-${email}`,
        role: 'developer',
        requireSameEmail: false,
      }),
    }
    await demote(inviter, 'maintainer')
    const refused = await accept(await newGuest(), offers.owner.token)
    expect([refused.error, refused.errors[0]?.extensions?.code]).toEqual([refusedInviter, 'conflict'])
    expect((await accept(await newGuest(), offers.developer.token)).error).toBeNull()
    // The invitation works again when the inviter has the role again.
    await demote(inviter, 'owner')
    expect((await accept(await newGuest(), offers.owner.token)).error).toBeNull()
  })

  test.each(['project', 'tenant', 'application'] as const)(
    '[invitations.judged-again] an inviter who lost the right in the project grants nothing in a %s',
    async (kind) => {
      const role = kind === 'tenant' ? 'member' : 'readonly'
      for (const lose of [
        (inviter: Person) => demote(inviter, 'developer'),
        (inviter: Person) => service.sql.query('delete from user2projects where user_id = $1', [inviter.id]),
      ]) {
        const inviter = await member(`left-${kind}-${++guests}`, 'maintainer')
        const { token } = await inviteOrFail(inviter, kind, idOf(kind, project), {
          email,
          role,
          requireSameEmail: false,
        })
        await lose(inviter)
        expect((await accept(await newGuest(), token)).error).toBe(refusedInviter)
      }
    },
  )

  test('[invitations.judged-again] an administrator who was demoted grants nothing', async () => {
    const former = await person('former-administrator')
    await service.sql.query("update users set role = 'administrator' where id = $1", [former.id])
    const { token } = await inviteOrFail(former, 'project', project.id, {
      email,
      role: 'tester',
      requireSameEmail: false,
    })
    await service.sql.query("update users set role = 'user' where id = $1", [former.id])
    expect((await accept(await newGuest(), token)).error).toBe(refusedInviter)
  })

  test('[invitations.subset] a tenant role that was raised above the inviter is not granted', async () => {
    const inviter = await withTenantRole('careful', ['apps.read', 'invites'])
    await withTenantRole('raised', ['apps.read'])
    const { token } = await inviteOrFail(inviter, 'tenant', project.tenantId, {
      email,
      role: 'raised',
      requireSameEmail: false,
    })
    const setPermissions = (permissions: string) =>
      service.sql.query('update tenant_role_definitions set permissions = $1 where name = $2', [
        permissions,
        'raised',
      ])
    await setPermissions('{apps.read,members}')
    expect((await accept(await newGuest(), token)).error).toBe(refusedInviter)
    await setPermissions('{apps.read}')
    expect((await accept(await newGuest(), token)).error).toBeNull()
  })

  test('[invitations.subset] a tenant role that lost `invites` grants nothing', async () => {
    const inviter = await withTenantRole('lost', ['apps.read', 'invites'])
    const { token } = await inviteOrFail(inviter, 'tenant', project.tenantId, {
      email,
      role: 'member',
      requireSameEmail: false,
    })
    await service.sql.query(
      "update tenant_role_definitions set permissions = '{apps.read}' where name = 'lost'",
    )
    expect((await accept(await newGuest(), token)).error).toBe(refusedInviter)
  })

  test('[invitations.judged-again] a demotion that commits during the acceptance prevents the grant', async () => {
    const raced = await seedProject(service.sql, 'demotions')
    const inviter = await person('demoted-meanwhile')
    const rowId = await seedMember(service.sql, inviter, 'maintainer', { projectId: raced.id })
    const { token } = await seedInvitation(service.sql, raced, { inviter, role: 'maintainer' })
    const guest = await newGuest()
    const demotion = "update user2projects set role = 'developer' where id = $1"
    const answer = await whileLocked(service.database.url, [demotion, [rowId]], async (commit) => {
      const pending = accept(guest, token)
      await waitForLockWait(service.sql)
      await commit()
      return pending
    })
    expect(answer.error).toBe(refusedInviter)
    const { rowCount } = await service.sql.query('select 1 from user2projects where project_id = $1', [
      raced.id,
    ])
    expect(rowCount).toBe(1)
  })
})

describe('credentials', () => {
  let maintainer: Person
  beforeAll(async () => {
    maintainer = await member('with-token', 'maintainer')
  })

  test('[invitations.rights] an inviter who is removed while the invitation is written gets no link', async () => {
    const rows = await service.sql.query<{ id: string }>('select id from user2projects where user_id = $1', [
      maintainer.id,
    ])
    const removal = 'delete from user2projects where id = $1'
    const answer = await whileLocked(service.database.url, [removal, [rows.rows[0]?.id]], async (commit) => {
      const pending = invite(maintainer, 'project', project.id, { email, role: 'tester' })
      await waitForLockWait(service.sql)
      await commit()
      return pending
    })
    expect(answer.error).toMatch(/^not permitted/)
  })
})
