// These tests cover SCIM tokens in evidence: tokens that are not used, and the rows of their lifecycle.
import { expect, test } from 'vitest'
import { type EvidenceRow, evidenceRows } from '../../../test/kit/evidence.ts'
import { useProject } from '../../../test/kit/project.ts'
import { createScimToken } from '../../../test/kit/scim.ts'

const { service, admin } = useProject()
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown
const create = (name: string) => createScimToken(service, admin, { name })
const revoke = (id: string) =>
  service.query(admin, 'mutation($id: ID!) { revokeScimToken(id: $id) { id } }', { id })
const set = (id: string, values: string) =>
  service.sql.query(`update scim_tokens set ${values} where id = $1`, [id])
const findStale = async (): Promise<EvidenceRow[]> =>
  (await evidenceRows(service, admin, 'stale-credentials', {})).filter(
    (row) => row['credential_type'] === 'scim_token',
  )

test('[evidence.names-access] SCIM tokens that no identity provider used since the window began are stale', async () => {
  const [unused, lastYear, inUse, fresh, expired, revoked] = await Promise.all(
    ['unused', 'last year', 'in use', 'fresh', 'expired', 'revoked'].map(create),
  )
  for (const one of [unused, lastYear, inUse, expired, revoked])
    await set(one?.id as string, `created_at = now() - interval '400 days'`)
  await set(lastYear?.id as string, `last_used_at = now() - interval '300 days'`)
  await set(inUse?.id as string, 'last_used_at = now()')
  await set(expired?.id as string, 'expires_at = now()')
  await revoke(revoked?.id as string)
  const token = {
    credential_type: 'scim_token',
    owner_id: admin.id,
    owner_email: admin.email,
    project_id: null,
    project_name: null,
    environment: null,
    created_at: time,
    last_rotated_at: null,
    last_used_at: null,
    expires_at: time,
  }
  expect(fresh?.id).toBeDefined()
  // The oldest activity is first.
  expect(await findStale()).toEqual([
    {
      ...token,
      credential_id: unused?.id,
      name: 'unused',
      reason: 'never used',
      token_prefix: unused?.tokenPrefix,
    },
    {
      ...token,
      credential_id: lastYear?.id,
      name: 'last year',
      reason: 'not used',
      token_prefix: lastYear?.tokenPrefix,
      last_used_at: time,
    },
  ])
})

test('[evidence.names-access] the lifecycle of a SCIM token names prefix, creator, expiry, last use and revocation', async () => {
  const { id, tokenPrefix } = await create('entra')
  await set(id, 'last_used_at = now()')
  const findRows = async () =>
    (await evidenceRows(service, admin, 'provisioning')).filter((row) => row['entity_id'] === id)
  const token = {
    scim_token: expect.stringContaining(`entra (${tokenPrefix})`),
    token_prefix: tokenPrefix,
    token_creator_id: admin.id,
    token_expires_at: time,
    token_last_used_at: time,
  }
  expect(await findRows()).toMatchObject([{ ...token, action: 'create', token_revoked_at: null }])
  await revoke(id)
  expect(await findRows()).toMatchObject([
    { ...token, action: 'revoke', token_revoked_at: time, principal_id: admin.id },
    { ...token, action: 'create', token_revoked_at: time, principal_id: admin.id },
  ])
})
