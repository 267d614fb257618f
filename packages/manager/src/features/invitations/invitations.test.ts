// Invitations are created, listed, revoked and deleted. acceptance.test.ts tests how people accept them.
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { chainRows } from '../../../test/kit/audit-rows.ts'
import { type Kind, idOf, invitationCalls, seedInvitation, tokenOf } from '../../../test/kit/invitations.ts'
import { useProject } from '../../../test/kit/project.ts'
import { runSchedule } from '../../../test/kit/schedules.ts'
import { seedProject } from '@manager/harness/seed.ts'

const { service, admin, project, other, person, member } = useProject({
  withOther: true,
  env: { SVC_PUBLIC_URL: 'https://manager.example.com/', SVC_INVITATIONS_MAX_OPEN_PER_PROJECT: '40' },
})
const { invite, inviteOrFail, list, preview, accept, revoke } = invitationCalls(() => service)

const kinds: { kind: Kind; role: string }[] = [
  { kind: 'project', role: 'developer' },
  { kind: 'tenant', role: 'member' },
  { kind: 'application', role: 'normal' },
]
const dayMs = 86_400_000

describe('inviting', () => {
  test.each(kinds)(
    '[invitations.invite] [invitations.lists] a person is invited to a $kind, and the invitation is listed there',
    async ({ kind, role }) => {
      const maintainer = await member(`inviter-${kind}`, 'maintainer')
      const answer = await invite(maintainer, kind, idOf(kind, project), {
        email: ` Ann.${kind}@Example.com `,
        role,
      })
      expect(answer.error).toBeNull()
      const { invitation, link, delivery } = answer.data.created
      expect(delivery).toBe('NONE')
      expect(link).toMatch(/^https:\/\/manager\.example\.com\/console\/invitations#inv_[\w-]{43}$/)
      expect(invitation).toMatchObject({
        email: `Ann.${kind}@Example.com`,
        role,
        requireSameEmail: true,
        state: 'OPEN',
        acceptedAt: null,
        revokedAt: null,
        inviter: { id: maintainer.id },
        acceptor: null,
      })
      expect(Date.parse(invitation.expiresAt) - Date.parse(invitation.createdAt)).toBe(7 * dayMs)
      expect((await list(maintainer, kind, idOf(kind, project))).data.rows).toEqual([invitation])
      for (const { kind: otherKind } of kinds.filter((one) => one.kind !== kind)) {
        const { data } = await list(admin, otherKind, idOf(otherKind, project))
        expect(data.rows).toEqual([])
      }
      expect((await list(admin, kind, idOf(kind, other))).data.rows).toEqual([])
      await service.sql.query('delete from invitations')
    },
  )

  test('[invitations.link] the token is stored only as a hash, and appears neither in the trail nor in a log', async () => {
    const answer = await invite(admin, 'project', project.id, { email: 'secret@example.com', role: 'tester' })
    const token = tokenOf(answer.data.created.link)
    const { id } = answer.data.created.invitation
    await preview(admin, token)
    const { rows } = await service.sql.query<{ text: string; token_hash: Buffer }>(
      'select i::text as text, token_hash from invitations i where id = $1',
      [id],
    )
    expect(rows[0]?.token_hash).toEqual(createHash('sha256').update(token).digest())
    expect(rows[0]?.text).not.toContain(token.slice(4))
    expect(JSON.stringify(await chainRows(service, project.id))).not.toContain(token.slice(4))
    expect(JSON.stringify(service.logLines)).not.toContain(token.slice(4))
    expect(JSON.stringify((await list(admin, 'project', project.id)).data)).not.toContain(token.slice(4))
  })

  test('[invitations.audit] the trail names the inviter and the role, and shortens the e-mail address', async () => {
    const { id } = await inviteOrFail(admin, 'tenant', project.tenantId, {
      email: 'trail@example.com',
      role: 'admin',
    })
    const row = (await chainRows(service, project.id)).at(-1)
    expect(row).toMatchObject({
      entity_type: 'invitation',
      entity_id: id,
      action: 'create',
      user_id: admin.id,
      description: 'invitation admin created',
    })
    expect(row?.changes).toMatchObject({
      email: { before: null, after: 'tr…' },
      role: { before: null, after: 'admin' },
      tenantId: { before: null, after: project.tenantId },
      inviterId: { before: null, after: admin.id },
    })
    expect(JSON.stringify(row)).not.toContain('trail@example.com')
  })

  test('wrong values are rejected together, with the paths of the fields', async () => {
    const { errors } = await invite(admin, 'project', project.id, {
      email: 'nobody',
      role: 'admin',
      expiresInDays: 31,
    })
    const problem = errors[0] as { extensions?: { fields?: unknown } }
    expect(problem.extensions?.fields).toEqual([
      { path: 'input.email', message: 'email must be an e-mail address such as ann@example.com' },
      { path: 'input.expiresInDays', message: 'expiresInDays must be from 1 to 30' },
      { path: 'input.role', message: 'role must be one of readonly, tester, developer, maintainer, owner' },
    ])
    for (const email of ['', '@', 'a b@c', 'a@b@c', `${'a'.repeat(320)}@b`, 'a\u0007@b', '<a@b>', 'a@b,c@d'])
      expect([email, (await invite(admin, 'project', project.id, { email, role: 'tester' })).error]).toEqual([
        email,
        expect.stringMatching(/^email must/),
      ])
    for (const expiresInDays of [0, -1])
      expect(
        (await invite(admin, 'project', project.id, { email: 'a@b', role: 'tester', expiresInDays })).error,
      ).toBe('expiresInDays must be from 1 to 30')
    const unknownRole = await invite(admin, 'tenant', project.tenantId, { email: 'a@b', role: 'nothing' })
    expect(unknownRole.error).toBe('roleName nothing is not a role definition of this tenant')
    const wrongRole = await invite(admin, 'application', project.applicationId, {
      email: 'a@b',
      role: 'owner',
    })
    expect(wrongRole.error).toBe('role must be one of readonly, normal')
    expect((await list(admin, 'project', project.id, 'open')).error).toBe(
      'state must be one of OPEN, ACCEPTED, REVOKED, EXPIRED',
    )
  })

  test('[invitations.open-limit] concurrent invitations do not exceed the limit of the project', async () => {
    const crowded = await seedProject(service.sql, 'crowded')
    const inviter = await person('inviter-of-many')
    for (let count = 0; count < 35; count++) await seedInvitation(service.sql, crowded, { inviter })
    const answers = await Promise.all(
      Array.from({ length: 15 }, (_, index) => {
        const { kind, role } = kinds[index % 3] as (typeof kinds)[number]
        return invite(admin, kind, idOf(kind, crowded), { email: `${index}@example.com`, role })
      }),
    )
    expect(answers.filter(({ error }) => error === null)).toHaveLength(5)
    expect(new Set(answers.map(({ error }) => error))).toEqual(
      new Set([
        null,
        'a project can have at most 40 open invitations; revoke one, or ask the operator to raise invitations.max_open_per_project',
      ]),
    )
    await service.sql.query(
      "update invitations set expires_at = now() - interval '1 second' where project_id = $1",
      [crowded.id],
    )
    await inviteOrFail(admin, 'project', crowded.id, { email: 'next@example.com', role: 'tester' })
  })
})

describe('revoking', () => {
  test.each(kinds)(
    '[invitations.revoke] the link of a revoked invitation to a $kind stops working',
    async ({ kind, role }) => {
      const guest = await person(`revoked-${kind}`)
      const { id, token } = await inviteOrFail(admin, kind, idOf(kind, project), {
        email: guest.email as string,
        role,
      })
      expect((await preview(guest, token)).error).toBeNull()
      const revoked = await revoke(admin, id)
      expect(revoked.data.revoked).toMatchObject({ id, state: 'REVOKED', revokedAt: expect.any(String) })
      for (const answer of [await preview(guest, token), await accept(guest, token)])
        expect(answer.error).toBe('invitation not found')
      const rows = await chainRows(service, project.id)
      expect(rows.at(-1)).toMatchObject({ entity_type: 'invitation', entity_id: id, action: 'revoke' })
      // A repeated call changes nothing.
      expect((await revoke(admin, id)).data.revoked).toEqual(revoked.data.revoked)
      expect(await chainRows(service, project.id)).toHaveLength(rows.length)
    },
  )

  test('[invitations.revoke] an accepted invitation is not revoked', async () => {
    const guest = await person('too-late')
    const { id, token } = await inviteOrFail(admin, 'project', project.id, {
      email: guest.email as string,
      role: 'tester',
    })
    expect((await accept(guest, token)).error).toBeNull()
    expect((await revoke(admin, id)).error).toBe(
      'the invitation was already accepted; remove the member instead',
    )
  })

  test('[invitations.lists] lists select by state', async () => {
    const { id: projectId } = await seedProject(service.sql, 'states')
    const guest = await person('guest-of-states')
    const input = { email: guest.email as string, role: 'tester' }
    const ids: Record<string, string> = {}
    const create = async (state: string): Promise<string> => {
      const { id, token } = await inviteOrFail(admin, 'project', projectId, input)
      ids[state] = id
      return token
    }
    await accept(guest, await create('ACCEPTED'))
    await create('REVOKED')
    await revoke(admin, ids['REVOKED'] as string)
    await create('EXPIRED')
    await service.sql.query("update invitations set expires_at = now() - interval '1 second' where id = $1", [
      ids['EXPIRED'],
    ])
    await create('OPEN')
    for (const [state, id] of Object.entries(ids)) {
      const { data } = await list(admin, 'project', projectId, state)
      expect([state, data.rows]).toEqual([state, [expect.objectContaining({ id, state })]])
    }
    expect((await list(admin, 'project', projectId)).data.rows).toHaveLength(4)
    expect((await list(admin, 'project', projectId, 'ACCEPTED')).data.rows[0].acceptor).toEqual({
      id: guest.id,
    })
  })
})

test('[invitations.retention] invitations are deleted 90 days after their end, and open ones are kept', async () => {
  const kept = await seedProject(service.sql, 'kept')
  const seed = async (change: string): Promise<string> => {
    const { id } = await seedInvitation(service.sql, kept, { inviter: admin })
    await service.sql.query(`update invitations set ${change} where id = $1`, [id])
    return id
  }
  const days = (count: number): string => `now() - interval '${count} days'`
  await seed(`created_at = ${days(200)}, expires_at = ${days(91)}`)
  await seed(`created_at = ${days(200)}, expires_at = ${days(90)}, revoked_at = ${days(91)}`)
  await seed(`expires_at = ${days(1)}, accepted_at = ${days(91)}, acceptor_id = inviter_id`)
  const remaining = [
    await seed(`expires_at = ${days(89)}`),
    await seed(`expires_at = ${days(80)}, revoked_at = ${days(89)}`),
    await seed(`created_at = ${days(200)}`),
  ]
  await runSchedule(service, 'invitation-retention')
  const { rows } = await service.sql.query<{ id: string }>(
    'select id from invitations where project_id = $1',
    [kept.id],
  )
  expect(rows.map(({ id }) => id).toSorted()).toEqual(remaining.toSorted())
})

test('[invitations.lists] a deleted tenant, application or role definition takes its invitations along', async () => {
  const gone = await seedProject(service.sql, 'gone')
  const guest = await person('guest-of-gone')
  const role = await service.query(
    admin,
    `mutation { row: createTenantRoleDefinition(tenantId: "${gone.tenantId}", input: {name: "r", permissions: []}) { id } }`,
  )
  const email = guest.email as string
  const ofRole = await inviteOrFail(admin, 'tenant', gone.tenantId, { email, role: 'r' })
  const renamed = `updateTenantRoleDefinition(id: "${role.data.row.id}", input: {name: "renamed"}) { id }`
  expect((await service.query(admin, `mutation { ${renamed} }`)).error).toBeNull()
  expect((await preview(guest, ofRole.token)).data.invitation.role).toBe('renamed')
  const ofTenant = await inviteOrFail(admin, 'tenant', gone.tenantId, { email, role: 'member' })
  const ofApplication = await inviteOrFail(admin, 'application', gone.applicationId, {
    email,
    role: 'normal',
  })
  for (const [mutation, { token }] of [
    [`deleteTenantRoleDefinition(id: "${role.data.row.id}")`, ofRole],
    [`deleteTenant(id: "${gone.tenantId}")`, ofTenant],
    [`deleteApplication(id: "${gone.applicationId}")`, ofApplication],
  ] as const) {
    expect((await service.query(admin, `mutation { ${mutation} }`)).error).toBeNull()
    expect((await accept(guest, token)).error).toBe('invitation not found')
  }
})
