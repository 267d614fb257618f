// One inviter can neither block the invitations of a project nor flood people with messages.
import { expect, test } from 'vitest'
import { invitationCalls, seedInvitation } from '../../../test/kit/invitations.ts'
import { codeOf } from '../../../test/kit/members.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedMember } from '@manager/harness/seed.ts'

const { service, admin, project, other, person } = useProject({
  withOther: true,
  env: { SVC_INVITATIONS_MAX_OPEN_PER_PROJECT: '18', SVC_INVITATIONS_MAX_PER_HOUR: '6' },
})
const { invite, inviteOrFail, revoke } = invitationCalls(() => service)
const input = { email: 'guest@example.com', role: 'member' }

test('[invitations.inviter-limit] one inviter can have at most a fifth of the open invitations of a project', async () => {
  const inviter = await person('eager')
  const { id: projectId, tenantId } = project
  await seedMember(service.sql, inviter, 'admin', { projectId, tenantId })
  const inviteGuest = () => invite(inviter, 'tenant', tenantId, input)
  const answers = await Promise.all(Array.from({ length: 6 }, inviteGuest))
  const refused = answers.filter(({ error }) => error !== null)
  expect(refused.map((answer) => [codeOf(answer), answer.error])).toEqual(
    Array.from({ length: 2 }, () => [
      'conflict',
      'you can have at most 4 open invitations in a project; revoke one, or ask another person to invite',
    ]),
  )
  // Other people still invite, and an invitation that is revoked makes room.
  const ofAdmin = await inviteOrFail(admin, 'tenant', tenantId, input)
  const created = answers.find(({ error }) => error === null)?.data.created.invitation.id as string
  expect((await revoke(admin, ofAdmin.id)).error).toBeNull()
  expect((await inviteGuest()).error).not.toBeNull()
  expect((await revoke(inviter, created)).error).toBeNull()
  expect((await inviteGuest()).error).toBeNull()
})

test('[invitations.inviter-limit] revoked invitations count for the limit per hour, in all projects', async () => {
  const inviter = await person('restless')
  for (const { id: projectId, tenantId } of [project, other])
    await seedMember(service.sql, inviter, 'admin', { projectId, tenantId })
  const inviteTo = (tenantId: string) => invite(inviter, 'tenant', tenantId, input)
  for (let count = 0; count < 5; count++) {
    const { data, error } = await inviteTo(project.tenantId)
    expect(error).toBeNull()
    expect((await revoke(inviter, data.created.invitation.id as string)).error).toBeNull()
  }
  expect((await inviteTo(other.tenantId)).error).toBeNull()
  // The next one is possible when the first of the six is an hour old.
  await service.sql.query(
    `update invitations set created_at = now() - interval '40 minutes' where id = (
       select id from invitations where inviter_id = $1 order by created_at, id limit 1)`,
    [inviter.id],
  )
  const answer = await inviteTo(project.tenantId)
  expect([codeOf(answer), answer.error]).toEqual([
    'rate_limited',
    'you can create at most 6 invitations in an hour; try again later',
  ])
  const waitSeconds = Number(answer.headers.get('retry-after'))
  expect(waitSeconds).toBeGreaterThan(0)
  expect(waitSeconds).toBeLessThanOrEqual(1_200)
  // Invitations of others do not count.
  await seedInvitation(service.sql, project, { inviter: admin })
  await service.sql.query(
    `update invitations set created_at = now() - interval '61 minutes' where inviter_id = $1 and created_at <
       now() - interval '39 minutes'`,
    [inviter.id],
  )
  expect((await inviteTo(project.tenantId)).error).toBeNull()
})
