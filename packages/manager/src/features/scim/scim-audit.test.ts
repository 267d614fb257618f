// Tests the audit rows of SCIM changes: each change has its rows in the chain of the system, in its transaction.
import { beforeAll, describe, expect, test } from 'vitest'
import { systemChain } from '../../platform/audit/entry.ts'
import { useProject } from '../../../test/kit/project.ts'
import { createScimClient, createScimToken, newUser } from '../../../test/kit/scim.ts'

const { service, admin } = useProject()
let token = { id: '', token: '' }
const scim = createScimClient(
  () => service,
  () => token.token,
)
beforeAll(async () => {
  token = await createScimToken(service, admin, { name: 'entra' })
})

type Row = {
  chain_id: string
  entity_type: string
  action: string
  description: string
  principal_type: string
  principal_id: string
  metadata: unknown
  changes: Record<string, { before: unknown; after: unknown }>
}
const rowsOf = async (id: string): Promise<Row[]> =>
  (await service.sql.query<Row>('select * from audit_logs where entity_id = $1 order by seq', [id])).rows
const actionsOf = async (id: string) =>
  (await rowsOf(id)).map(({ entity_type, action }) => `${entity_type} ${action}`)
const create = async (change: Record<string, unknown> = {}) => {
  const { body } = await scim.post(newUser(change))
  return body.id as string
}
const setActive = (id: string, active: boolean, headers = {}) =>
  scim.patch(id, [{ op: 'replace', path: 'active', value: active }], headers)

describe('audit rows', () => {
  test('[scim.audit] every change has a row; a request that changes nothing has none', async () => {
    const id = await create()
    await scim.patch(id, [{ op: 'replace', path: 'displayName', value: 'X' }])
    await scim.patch(id, [{ op: 'replace', path: 'displayName', value: 'X' }])
    await setActive(id, false)
    await setActive(id, false)
    await setActive(id, true)
    await scim.patch(id, [{ op: 'replace', value: { displayName: 'Y', active: false } }])
    await scim.remove(id)
    expect(await actionsOf(id)).toEqual([
      'provisionedUser create',
      'provisionedUser update',
      'user deactivate',
      'user reactivate',
      'provisionedUser update',
      'user deactivate',
      'provisionedUser delete',
    ])
  })

  test('[scim.audit] a person who is created inactive, deleted while active, or created again has both rows', async () => {
    const id = await create({ active: false })
    expect(await actionsOf(id)).toEqual(['provisionedUser create', 'user deactivate'])
    await scim.post(newUser({ externalId: id, userName: 'x' }))
    await setActive(id, true)
    await scim.remove(id)
    await scim.post(newUser({ externalId: id }))
    expect((await actionsOf(id)).slice(2)).toEqual([
      'user reactivate',
      'user deactivate',
      'provisionedUser delete',
      'provisionedUser create',
      'user reactivate',
    ])
  })

  test('[scim.audit] a row names the token and the changes, and hides e-mail addresses', async () => {
    const id = await create({ emails: [{ value: 'secret@example.com' }] })
    await scim.patch(id, [
      { op: 'replace', path: 'emails[primary eq false].value', value: 'other@example.com' },
    ])
    const rows = await rowsOf(id)
    for (const row of rows)
      expect(row).toMatchObject({
        chain_id: systemChain,
        principal_type: 'system',
        principal_id: `scim token ${token.id}`,
        metadata: { scimToken: 'entra' },
      })
    expect(rows.map(({ changes }) => changes['emails'])).toEqual([
      { before: null, after: '[secret]' },
      { before: '[secret]', after: '[secret]' },
    ])
    for (const hidden of ['secret@example.com', 'other@example.com', token.token])
      expect(JSON.stringify(rows)).not.toContain(hidden)
  })

  test('[scim.audit] a rejected deactivation has a row, and the person stays active', async () => {
    const id = await create()
    const outdated = { 'if-match': 'W/"9"' }
    expect((await setActive(id, false, outdated)).status).toBe(412)
    expect((await scim.remove(id, outdated)).status).toBe(412)
    expect(
      (await scim.patch(id, [{ op: 'replace', path: 'displayName', value: 'X' }], outdated)).status,
    ).toBe(412)
    const rows = (await rowsOf(id)).slice(1)
    expect(rows.map(({ entity_type, action }) => `${entity_type} ${action}`)).toEqual([
      'user deny',
      'user deny',
    ])
    expect(rows[0]?.description).toMatch(
      /^deactivation of user .* rejected: it is based on an outdated version$/,
    )
    expect((await service.query({ id }, '{ me { id } }')).error).toBeNull()
  })

  test('[scim.audit] if the row cannot be written, nothing changes', async () => {
    const id = await create()
    await service.sql.query(`
      create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
      create trigger refuse before insert on audit_logs for each row execute function refuse()`)
    expect((await setActive(id, false)).status).toBe(500)
    expect((await scim.remove(id)).status).toBe(500)
    await service.sql.query('drop trigger refuse on audit_logs; drop function refuse()')
    expect((await scim.get(`/Users/${id}`)).body.active).toBe(true)
    expect((await service.query({ id }, '{ me { id } }')).error).toBeNull()
  })
})
