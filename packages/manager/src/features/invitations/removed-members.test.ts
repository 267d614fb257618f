// A person who was removed does not come back with an older link.
import { expect, test } from 'vitest'
import { chainRows } from '../../../test/kit/audit-rows.ts'
import { type Kind, idOf, invitationCalls } from '../../../test/kit/invitations.ts'
import { whileLocked, waitForLockWait } from '../../../test/kit/locks.ts'
import { memberCalls } from '../../../test/kit/members.ts'
import { useProject } from '../../../test/kit/project.ts'
import type { Person } from '@manager/harness/callers.ts'

const { service, admin, project, person } = useProject()
const { inviteOrFail, preview, accept } = invitationCalls(() => service)

const notFound = 'invitation not found'
const kinds: { kind: Kind; entity: 'Project' | 'Tenant' | 'Application'; role: string; higher: string }[] = [
  { kind: 'project', entity: 'Project', role: 'readonly', higher: 'owner' },
  { kind: 'tenant', entity: 'Tenant', role: 'member', higher: 'owner' },
  { kind: 'application', entity: 'Application', role: 'readonly', higher: 'normal' },
]
const emailOf = ({ email = '' }: Person): string => email
async function findMembership(kind: Kind, { id }: Person): Promise<string> {
  const { rows } = await service.sql.query<{ id: string }>(
    `select id from user2${kind}s where user_id = $1`,
    [id],
  )
  return rows[0]?.id ?? ''
}
/** Returns the kinds and entities of the last rows in the trail. */
async function lastRows(count: number): Promise<string[]> {
  const rows = (await chainRows(service, project.id)).slice(-count)
  return rows.map(({ entity_type, entity_id, action }) =>
    entity_type === 'invitation' ? `invitation ${action} ${entity_id}` : `${entity_type} ${action}`,
  )
}

test.each(kinds)(
  '[invitations.removal] [invitations.repeat] a removed member of the $kind cannot use another link',
  async ({ kind, entity, role, higher }) => {
    const ann = await person(`ann-${kind}`)
    const invite = (of: Kind, input: { email: string; role: string; requireSameEmail?: boolean }) =>
      inviteOrFail(admin, of, idOf(of, project), input)
    const email = emailOf(ann).toUpperCase()
    const first = await invite(kind, { email, role })
    const second = await invite(kind, { email: emailOf(ann), role: higher, requireSameEmail: false })
    const otherPerson = await person(`ben-${kind}`)
    const ofOther = await invite(kind, { email: emailOf(otherPerson), role })
    const otherKind = kind === 'project' ? 'application' : 'project'
    const elsewhere = await invite(otherKind, { email, role: 'readonly' })

    expect((await accept(ann, first.token)).error).toBeNull()
    expect(await lastRows(3)).toEqual([
      `invitation accept ${first.id}`,
      `user2${kind} grant`,
      `invitation revoke ${second.id}`,
    ])
    const third = await invite(kind, { email, role: higher })
    const id = await findMembership(kind, ann)
    expect((await memberCalls(entity, () => service).remove(admin, { id })).error).toBeNull()
    expect(await lastRows(2)).toEqual([`user2${kind} revoke`, `invitation revoke ${third.id}`])
    expect((await chainRows(service, project.id)).at(-1)).toMatchObject({
      user_id: admin.id,
      description: `invitation ${higher} revoked`,
      changes: { revokedAt: { before: null, after: expect.any(String) } },
    })

    for (const { token } of [first, second, third]) expect((await accept(ann, token)).error).toBe(notFound)
    expect(await findMembership(kind, ann)).toBe('')
    expect((await preview(otherPerson, ofOther.token)).error).toBeNull()
    expect((await preview(ann, elsewhere.token)).error).toBeNull()
    const again = await invite(kind, { email, role })
    expect((await accept(ann, again.token)).error).toBeNull()
  },
)

test('[invitations.removal] a link that is opened during the removal of the member does not work', async () => {
  const ann = await person('ann-in-a-race')
  const input = { email: emailOf(ann), role: 'readonly' }
  expect(
    (await accept(ann, (await inviteOrFail(admin, 'project', project.id, input)).token)).error,
  ).toBeNull()
  const { token } = await inviteOrFail(admin, 'project', project.id, input)
  const id = await findMembership('project', ann)
  const lock = 'select 1 from user2projects where id = $1 for update'
  const [removal, acceptance] = await whileLocked(service.database.url, [lock, [id]], async (commit) => {
    const removing = memberCalls('Project', () => service).remove(admin, { id })
    await waitForLockWait(service.sql)
    const accepting = accept(ann, token)
    await commit()
    return Promise.all([removing, accepting])
  })
  expect(removal.error).toBeNull()
  // The acceptance runs either before the removal, or after it.
  expect(acceptance.error).toMatch(/^you are already a member|^invitation not found/)
  expect((await accept(ann, token)).error).toBe(notFound)
  expect(await findMembership('project', ann)).toBe('')
})

test('[invitations.same-email] letters that only look like a-z in lower case make another address', async () => {
  const { id } = await person('kelvin')
  await service.sql.query('update users set external_email = $2 where id = $1', [
    id,
    '\u212Aelvin@example.com',
  ])
  const { token } = await inviteOrFail(admin, 'project', project.id, {
    email: 'kelvin@example.com',
    role: 'readonly',
  })
  expect((await accept({ id }, token)).error).toBe(notFound)
  expect((await accept({ id, email: 'KELVIN@example.com' }, token)).error).toBeNull()
})

test('[invitations.judged-again] a role that is renamed during the acceptance is judged by its current rights', async () => {
  const role = (call: string) => service.query(admin, `mutation { row: ${call} { id } }`)
  const defined = await role(
    `createTenantRoleDefinition(tenantId: "${project.tenantId}", input: {name: "before", permissions: []})`,
  )
  expect(defined.error).toBeNull()
  const ann = await person('ann-of-a-renamed-role')
  const { token } = await inviteOrFail(admin, 'tenant', project.tenantId, {
    email: emailOf(ann),
    role: 'before',
  })
  const rename = `update tenant_role_definitions d set name = 'after' from (select id from tenants where id = $1 for update) t
    where d.tenant_id = t.id and d.name = 'before'`
  const answer = await whileLocked(service.database.url, [rename, [project.tenantId]], async (commit) => {
    const pending = accept(ann, token)
    await waitForLockWait(service.sql)
    await commit()
    return pending
  })
  expect([answer.error, answer.data?.accepted.role]).toEqual([null, 'after'])
})

test('[invitations.removal] the deletion of a tenant role revokes the invitations that offer it', async () => {
  const create = (name: string) =>
    service.query(
      admin,
      `mutation { row: createTenantRoleDefinition(tenantId: "${project.tenantId}", input: {name: "${name}", permissions: []}) { id } }`,
    )
  const { data } = await create('temporary')
  const ann = await person('ann-of-a-deleted-role')
  const email = emailOf(ann)
  const open = await inviteOrFail(admin, 'tenant', project.tenantId, { email, role: 'temporary' })
  const kept = await inviteOrFail(admin, 'tenant', project.tenantId, { email, role: 'member' })
  const deletion = `mutation { deleteTenantRoleDefinition(id: "${data.row.id}") }`
  expect((await service.query(admin, deletion)).error).toBeNull()
  expect(await lastRows(2)).toEqual(['tenantRoleDefinition delete', `invitation revoke ${open.id}`])
  // A new role with the same name does not revive the link.
  expect((await create('temporary')).error).toBeNull()
  expect((await accept(ann, open.token)).error).toBe(notFound)
  expect((await preview(ann, kept.token)).error).toBeNull()
})
