// People accept invitations: once, in time, and with the e-mail address of the invitation.
import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { chainRows } from '../../../test/kit/audit-rows.ts'
import { type Kind, idOf, invitationCalls, seedInvitation } from '../../../test/kit/invitations.ts'
import { whileLocked, waitForLockWait } from '../../../test/kit/locks.ts'
import { memberCalls } from '../../../test/kit/members.ts'
import { useProject } from '../../../test/kit/project.ts'
import type { Person } from '@manager/harness/callers.ts'
import { seedMember, seedProject } from '@manager/harness/seed.ts'

const { service, admin, project, person } = useProject()
const { inviteOrFail, preview, accept, revoke } = invitationCalls(() => service)

const kinds: { kind: Kind; role: string; membership: string }[] = [
  { kind: 'project', role: 'developer', membership: 'projectMemberships { nodes: role }' },
  { kind: 'tenant', role: 'admin', membership: 'tenantMemberships { nodes: roleName }' },
  { kind: 'application', role: 'normal', membership: 'applicationMemberships { nodes: role }' },
]
const notFound = 'invitation not found'
const emailOf = ({ email = '' }: Person): string => email
const rolesOf = async (caller: Person, membership: string): Promise<string[]> => {
  const { data } = await service.query(caller, `{ me { rows: ${membership} } }`)
  return (data.me.rows as { nodes: string }[]).map(({ nodes }) => nodes)
}
const countMembers = async (projectId: string): Promise<number> => {
  const { rowCount } = await service.sql.query('select 1 from user2projects where project_id = $1', [
    projectId,
  ])
  return rowCount ?? 0
}

describe('accepting', () => {
  test.each(kinds)(
    '[invitations.accept] [invitations.audit] the invited person sees the invitation to a $kind and becomes a member',
    async ({ kind, role, membership }) => {
      const guest = await person(`guest-${kind}`)
      const { id, token } = await inviteOrFail(admin, kind, idOf(kind, project), {
        email: ` ${emailOf(guest).toUpperCase()}`,
        role,
      })
      const { data } = await preview(guest, token)
      expect(data.invitation).toEqual({
        kind,
        projectName: 'Project main',
        tenantName: kind === 'tenant' ? 'main-tenant' : null,
        applicationName: kind === 'application' ? 'Application of main' : null,
        role,
        inviterName: 'admin',
        inviterEmail: 'admin@example.com',
        expiresAt: expect.any(String),
      })
      const accepted = {
        kind,
        projectSlug: 'main',
        projectName: 'Project main',
        tenantSlug: kind === 'tenant' ? 'main-tenant' : null,
        applicationSlug: kind === 'application' ? 'main-app' : null,
        role,
      }
      expect((await accept(guest, token)).data).toEqual({ accepted })
      expect(await rolesOf(guest, membership)).toEqual([role])
      const rows = (await chainRows(service, project.id)).slice(-2)
      const metadata = { invitation_id: id, inviter_id: admin.id }
      expect(rows).toMatchObject([
        { entity_type: 'invitation', entity_id: id, action: 'accept', user_id: guest.id, metadata },
        { entity_type: `user2${kind}`, action: 'grant', user_id: guest.id, metadata },
      ])

      // The response to the first call may have been lost.
      expect((await accept(guest, token)).data).toEqual({ accepted })
      expect((await chainRows(service, project.id)).slice(-2)).toEqual(rows)
      expect((await preview(guest, token)).error).toBe(notFound)
    },
  )

  test('[invitations.repeat] after the membership was removed, a repeated call finds no invitation', async () => {
    const guest = await person('removed-guest')
    const { token } = await inviteOrFail(admin, 'project', project.id, {
      email: emailOf(guest),
      role: 'tester',
    })
    expect((await accept(guest, token)).error).toBeNull()
    await service.sql.query('delete from user2projects where user_id = $1', [guest.id])
    expect((await accept(guest, token)).error).toBe(notFound)
    expect(await rolesOf(guest, 'projectMemberships { nodes: role }')).toEqual([])
  })

  test('[invitations.not-found] a link that the caller cannot use returns the same error in every case', async () => {
    const guest = await person('the-guest')
    const stranger = await person('a-stranger')
    const input = { email: emailOf(guest), role: 'tester' }
    const create = () => inviteOrFail(admin, 'project', project.id, input)
    const [revoked, expired, used] = [await create(), await create(), await create()]
    await revoke(admin, revoked.id)
    await service.sql.query('update invitations set expires_at = now() where id = $1', [expired.id])
    expect((await accept(guest, used.token)).error).toBeNull()
    const forOther = await create()
    const unknown = `inv_${randomBytes(32).toString('base64url')}`
    const cases: [string, Person, string][] = [
      ['another person', stranger, forOther.token],
      ['an administrator', admin, forOther.token],
      ['revoked', guest, revoked.token],
      ['expired', guest, expired.token],
      ['used by somebody else', stranger, used.token],
      ['unknown', guest, unknown],
      ['shortened', guest, forOther.token.slice(0, -1)],
      ['other letters', guest, forOther.token.toUpperCase()],
      ['no token', guest, ''],
      ['an id', guest, forOther.id],
    ]
    for (const [name, caller, token] of cases)
      for (const answer of [await preview(caller, token), await accept(caller, token)])
        expect([name, answer.error, answer.errors[0]?.extensions?.code, answer.data]).toEqual([
          name,
          notFound,
          'not_found',
          null,
        ])
    expect((await preview(guest, forOther.token)).error).toBeNull()
  })

  test('[invitations.same-email] without the requirement, whoever has the link can accept', async () => {
    const stranger = await person('lucky-stranger')
    const { token } = await inviteOrFail(admin, 'project', project.id, {
      email: 'somebody.else@example.com',
      role: 'tester',
      requireSameEmail: false,
    })
    expect((await accept(stranger, token)).error).toBeNull()
    expect(await rolesOf(stranger, 'projectMemberships { nodes: role }')).toEqual(['tester'])
  })

  test('[invitations.same-email] a person without an e-mail address cannot accept an invitation for one', async () => {
    const { id } = await person('no-mail')
    const { token } = await inviteOrFail(admin, 'project', project.id, {
      email: 'no-mail@example.com',
      role: 'tester',
    })
    await service.sql.query("update users set external_email = '' where id = $1", [id])
    expect((await accept({ id }, token)).error).toBe(notFound)
    // The proxy forwards another address than before.
    expect((await accept({ id, email: 'no-mail@example.org' }, token)).error).toBe(notFound)
    expect((await accept({ id, email: 'No-Mail@example.com' }, token)).error).toBeNull()
  })

  test.each(kinds)(
    '[invitations.member-conflict] a member of the $kind keeps the role, and the invitation stays open until the member is removed',
    async ({ kind, role, membership }) => {
      const guest = await person(`member-${kind}`)
      const { id: projectId, tenantId, applicationId } = project
      const [ownRole, of] = {
        project: ['readonly', { projectId }] as const,
        tenant: ['member', { projectId, tenantId }] as const,
        application: ['readonly', { projectId, applicationId }] as const,
      }[kind]
      const rowId = await seedMember(service.sql, guest, ownRole, of)
      const { token } = await inviteOrFail(admin, kind, idOf(kind, project), { email: emailOf(guest), role })
      const answer = await accept(guest, token)
      expect([answer.error, answer.errors[0]?.extensions?.code]).toEqual([
        `you are already a member of this ${kind}; ask a maintainer if you need another role`,
        'conflict',
      ])
      expect(await rolesOf(guest, membership)).toEqual([ownRole])
      expect((await preview(guest, token)).error).toBeNull()
      const entity = ({ project: 'Project', tenant: 'Tenant', application: 'Application' } as const)[kind]
      expect((await memberCalls(entity, () => service).remove(admin, { id: rowId })).error).toBeNull()
      expect((await accept(guest, token)).error).toBe(notFound)
    },
  )
})

describe('concurrent calls', () => {
  test('[invitations.once] of 16 people with the same link, exactly one becomes a member', async () => {
    const raced = await seedProject(service.sql, 'raced')
    const people = await Promise.all(Array.from({ length: 16 }, (_, index) => person(`racer-${index}`)))
    const { id, token } = await seedInvitation(service.sql, raced, { inviter: admin, role: 'tester' })
    const answers = await Promise.all(people.map((racer) => accept(racer, token)))
    const winners = people.filter((_, index) => answers[index]?.error === null)
    expect(winners).toHaveLength(1)
    expect(answers.filter(({ error }) => error === notFound)).toHaveLength(15)
    expect(await countMembers(raced.id)).toBe(1)
    const { rows } = await service.sql.query('select acceptor_id from invitations where id = $1', [id])
    expect(rows).toEqual([{ acceptor_id: winners[0]?.id }])
    expect((await chainRows(service, raced.id)).map(({ action }) => action)).toEqual(['accept', 'grant'])
  })

  test('[invitations.repeat] of 16 calls of one person, all succeed, and one membership exists', async () => {
    const repeated = await seedProject(service.sql, 'repeated')
    const guest = await person('impatient')
    const { token } = await seedInvitation(service.sql, repeated, { inviter: admin, role: 'tester' })
    const answers = await Promise.all(Array.from({ length: 16 }, () => accept(guest, token)))
    expect(answers.map(({ error }) => error)).toEqual(Array.from({ length: 16 }, () => null))
    expect(await countMembers(repeated.id)).toBe(1)
    expect((await chainRows(service, repeated.id)).map(({ action }) => action)).toEqual(['accept', 'grant'])
  })

  test('[invitations.revoke] an invitation that is revoked while it is accepted is not used', async () => {
    const guest = await person('overtaken')
    const { id, token } = await seedInvitation(service.sql, project, { inviter: admin, role: 'tester' })
    const revocation = 'update invitations set revoked_at = now() where id = $1'
    const answer = await whileLocked(service.database.url, [revocation, [id]], async (commit) => {
      const pending = accept(guest, token)
      await waitForLockWait(service.sql)
      await commit()
      return pending
    })
    expect(answer.error).toBe(notFound)
    expect(await rolesOf(guest, 'projectMemberships { nodes: role }')).toEqual([])
  })

  test('[invitations.expiry] an invitation that expires while its acceptance waits for a lock is not used', async () => {
    const guest = await person('delayed')
    const { id, token } = await seedInvitation(service.sql, project, { inviter: admin, role: 'tester' })
    const lock = 'select 1 from projects where id = $1 for update'
    const answer = await whileLocked(service.database.url, [lock, [project.id]], async (commit) => {
      const pending = accept(guest, token)
      await waitForLockWait(service.sql)
      await service.sql.query('update invitations set expires_at = clock_timestamp() where id = $1', [id])
      await commit()
      return pending
    })
    expect(answer.error).toBe(notFound)
  })
})
