// These tests cover SCIM tokens in access reviews: each usable or expired token of an identity provider is an entry.
import { expect, test } from 'vitest'
import { reviewCalls } from '../../../test/kit/access-reviews.ts'
import { useProject } from '../../../test/kit/project.ts'
import { createScimToken } from '../../../test/kit/scim.ts'

const { service, admin, project, person } = useProject()
const { ask, read, attest, of } = reviewCalls(() => service)
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown
const sql = (text: string, id: string) => service.sql.query(text, [id])

test('[access-review.entry-principal] [access-review.entry-grant] a SCIM token is a privileged entry of the system', async () => {
  const before = await read(admin)
  const { id } = await createScimToken(service, admin, { name: 'entra' })
  const report = await read(admin)
  expect(of(report, id)).toEqual([
    {
      entry_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      principal_type: 'scim_token',
      principal_id: id,
      name: 'entra',
      email: admin.email,
      scope_type: 'system',
      scope_id: null,
      scope_name: 'System',
      project_id: null,
      role: 'provisioner',
      enabled: true,
      granted_at: time,
      granted_by: admin.id,
      last_activity_at: null,
      expires_at: time,
      flags: ['privileged', 'never_active'],
      recommendation: 'review',
      last_attestation: null,
    },
  ])
  expect(report.summary.by_principal_type.scim_token).toBe(1)
  // Entries of other principals stay unchanged.
  const others = report.entries.filter((entry) => entry.principal_id !== id)
  expect(others.map(({ entry_id }) => entry_id)).toEqual(before.entries.map(({ entry_id }) => entry_id))
  expect(of(await read(admin, `?project_id=${project.id}`), id)).toEqual([])
})

test('[access-review.entry-grant] uses, expiry and revocation of a SCIM token change its entry', async () => {
  const [used, expired, revoked] = await Promise.all(
    ['used', 'expired', 'revoked'].map((name) => createScimToken(service, admin, { name })),
  )
  await sql('update scim_tokens set last_used_at = now() where id = $1', used?.id as string)
  await sql(
    `update scim_tokens set created_at = now() - interval '100 days', expires_at = now() where id = $1`,
    expired?.id as string,
  )
  await service.query(admin, 'mutation($id: ID!) { revokeScimToken(id: $id) { id } }', { id: revoked?.id })
  const report = await read(admin)
  const flagsOf = (id = '') =>
    of(report, id).map(({ flags, recommendation, last_activity_at }) => [
      flags,
      recommendation,
      last_activity_at,
    ])
  expect(flagsOf(used?.id)).toEqual([[['privileged'], 'review', time]])
  expect(flagsOf(expired?.id)).toEqual([
    [['privileged', 'expired', 'never_active', 'dormant'], 'revoke', null],
  ])
  expect(flagsOf(revoked?.id)).toEqual([])
})

test('a SCIM token stays enabled in the review when its creator is deactivated, because it stays usable', async () => {
  const creator = await person('creator')
  await sql(`update users set role = 'administrator' where id = $1`, creator.id)
  const { id } = await createScimToken(service, creator)
  await sql('update users set deactivated_by_scim_at = now() where id = $1', creator.id)
  expect(of(await read(admin), id)).toMatchObject([{ enabled: true, email: creator.email }])
  expect(of(await read(admin), creator.id)).toMatchObject([{ enabled: false }])
})

test('[access-review.attest-population] a SCIM token that is created after the report answers 409', async () => {
  const report = await read(admin)
  const { id } = await createScimToken(service, admin)
  expect((await attest(admin, { report_id: report.report_id, decision: 'approve' })).status).toBe(409)
  const current = await read(admin)
  expect((await attest(admin, { report_id: current.report_id, decision: 'approve' })).status).toBe(200)
  expect(of(await read(admin), id)).toMatchObject([{ last_attestation: { decision: 'approve' } }])
})

test('[access-review.formats] SCIM tokens are in the CSV and on the page', async () => {
  const { id } = await createScimToken(service, admin, { name: 'okta' })
  expect(await (await ask(admin, '?format=csv')).text()).toContain(id)
  const page = await (await ask(admin, '', { accept: 'text/html' })).text()
  expect(page).toContain('okta')
  expect(page).toContain('SCIM token, admin@example.com')
})
