// Auditors see who invited whom. The inviter counts as the granter, although the invited person makes the change.
import { expect, test } from 'vitest'
import { evidenceRows } from '../../../test/kit/evidence.ts'
import { invitationCalls } from '../../../test/kit/invitations.ts'
import { useProject } from '../../../test/kit/project.ts'
import { call } from '@manager/harness/credentials.ts'
import { headersOf } from '@manager/harness/callers.ts'
import { type Review, reviewPath } from '../../../test/kit/access-reviews.ts'

const { service, admin, project, person, member } = useProject()
const { inviteOrFail, accept, revoke } = invitationCalls(() => service)

test('[invitations.evidence] evidence and access reviews name the inviter of a member', async () => {
  const inviter = await member('inviter', 'maintainer')
  const guest = await person('guest')
  const input = { email: guest.email as string, role: 'developer' }
  const accepted = await inviteOrFail(inviter, 'project', project.id, input)
  const revoked = await inviteOrFail(inviter, 'tenant', project.tenantId, { ...input, role: 'member' })
  expect((await accept(guest, accepted.token)).error).toBeNull()
  expect((await revoke(admin, revoked.id)).error).toBeNull()

  const rows = await evidenceRows(service, admin, 'invitations')
  const offer = { offered_role: 'developer', inviter_id: inviter.id, tenant_id: null }
  expect(rows).toMatchObject([
    { action: 'revoke', entity_id: revoked.id, principal_id: admin.id, tenant_id: project.tenantId },
    { action: 'accept', entity_id: accepted.id, principal_id: guest.id, ...offer },
    { action: 'create', entity_id: revoked.id, principal_id: inviter.id, offered_role: 'member' },
    { action: 'create', entity_id: accepted.id, principal_id: inviter.id, ...offer },
  ])
  expect(await evidenceRows(service, admin, 'access-grants')).toMatchObject([
    { subject_id: guest.id, principal_id: guest.id, invited_by: inviter.id, role: 'developer' },
  ])

  const { body } = await call(service.url, reviewPath, headersOf(admin))
  const { entries } = body as Review
  const entry = entries.find(({ principal_id }) => principal_id === guest.id)
  expect(entry).toMatchObject({ granted_by: inviter.id, role: 'developer' })
  expect(entry?.flags).not.toContain('self_granted')
})
