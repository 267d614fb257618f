// Tests the tokens of identity providers, and that nothing else opens the SCIM routes.
import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { headersOf } from '@manager/harness/callers.ts'
import { bearer, createMachine, createToken } from '@manager/harness/credentials.ts'
import { useProject } from '../../../test/kit/project.ts'
import { createScimClient, createScimToken, errorSchema } from '../../../test/kit/scim.ts'

const { service, admin, person, project } = useProject()
let token = ''
const scim = createScimClient(
  () => service,
  () => token,
)
beforeAll(async () => {
  token = (await createScimToken(service, admin)).token
})

const revoke = (id: string) =>
  service.query(admin, 'mutation($id: ID!) { row: revokeScimToken(id: $id) { id revokedAt revision } }', {
    id,
  })
const list = async () => {
  const { data } = await service.query(
    admin,
    '{ rows: scimTokens { id name tokenPrefix expiresAt lastUsedAt revokedAt creator { id } } }',
  )
  return data.rows as { id: string; name: string; lastUsedAt: string | null; creator: { id: string } }[]
}
const statusWith = async (authorization: string | null): Promise<number> =>
  (
    await fetch(`${service.url}/scim/v2/Users`, {
      headers: {
        ...headersOf({ id: admin.id }),
        ...(authorization === null ? {} : { authorization }),
      },
    })
  ).status

describe('tokens', () => {
  test('[scim.token] a token is returned once, and only its hash is stored', async () => {
    const created = await createScimToken(service, admin, { name: 'entra' })
    expect(created.token).toMatch(/^scim_[A-Za-z0-9_-]{43}[0-9A-Za-z]{6}$/)
    expect(created.tokenPrefix).toBe(created.token.slice(0, 13))
    const { rows } = await service.sql.query<{ token_hash: Buffer; row: string }>(
      'select token_hash, scim_tokens::text as row from scim_tokens where id = $1',
      [created.id],
    )
    expect(rows[0]?.token_hash).toEqual(createHash('sha256').update(created.token).digest())
    expect(rows[0]?.row).not.toContain(created.token.slice(13))
    expect((await list()).find(({ id }) => id === created.id)).toMatchObject({
      name: 'entra',
      creator: { id: admin.id },
    })
  })

  test('[scim.token] a revoked or expired token is refused immediately, and a repeated revocation changes nothing', async () => {
    const [gone, late] = [await createScimToken(service, admin), await createScimToken(service, admin)]
    expect([await statusWith(`Bearer ${gone.token}`), await statusWith(`bearer ${late.token}`)]).toEqual([
      200, 200,
    ])
    expect((await revoke(gone.id)).data.row).toMatchObject({ revision: 2 })
    expect((await revoke(gone.id)).data.row).toMatchObject({ revision: 2 })
    await service.sql.query('update scim_tokens set expires_at = now() where id = $1', [late.id])
    expect([await statusWith(`Bearer ${gone.token}`), await statusWith(`Bearer ${late.token}`)]).toEqual([
      401, 401,
    ])
  })

  test('[scim.token] the expiry is 365 days from now unless it is given, and has a limit', async () => {
    const create = (expiresAt?: string) =>
      createScimToken(service, admin, expiresAt === undefined ? {} : { expiresAt })
    const { id } = await create()
    const { rows } = await service.sql.query<{ days: number }>(
      'select round(extract(epoch from expires_at - now()) / 86400)::int as days from scim_tokens where id = $1',
      [id],
    )
    expect(rows[0]?.days).toBe(365)
    const at = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString()
    await create(at(1_094))
    for (const wrong of [at(-1), at(1_096), 'tomorrow'])
      await expect(create(wrong)).rejects.toThrow(/^expiresAt must be/)
  })

  test('[scim.token] the last use is recorded', async () => {
    const used = await createScimToken(service, admin)
    expect((await list()).find(({ id }) => id === used.id)?.lastUsedAt).toBeNull()
    await statusWith(`Bearer ${used.token}`)
    await expect
      .poll(async () => (await list()).find(({ id }) => id === used.id)?.lastUsedAt, { timeout: 20_000 })
      .toMatch(/^20/)
  })

  test('[scim.audit] creation and revocation are audited, without the token', async () => {
    const created = await createScimToken(service, admin, { name: 'okta' })
    await revoke(created.id)
    const { rows } = await service.sql.query<{ action: string; user_id: string; row: string }>(
      `select action, user_id, audit_logs::text as row from audit_logs
       where entity_type = 'scimToken' and entity_id = $1 order by seq`,
      [created.id],
    )
    expect(rows.map(({ action, user_id }) => [action, user_id])).toEqual([
      ['create', admin.id],
      ['revoke', admin.id],
    ])
    for (const { row } of rows) expect(row).not.toContain(created.token.slice(13))
  })

  test('only a limited number of tokens can be usable', async () => {
    await service.sql.query(
      `insert into scim_tokens (id, name, token_prefix, token_hash, creator_id, expires_at)
       select gen_random_uuid(), 'many', 'scim_12345678', sha256(n::text::bytea), $1, now() + interval '1 day'
       from generate_series(1, 100) n`,
      [admin.id],
    )
    await expect(createScimToken(service, admin)).rejects.toThrow(
      'at most 100 SCIM tokens can be usable; revoke one first',
    )
    await service.sql.query("delete from scim_tokens where name = 'many'")
  })
})

describe('what opens the routes', () => {
  test('[scim.token-refused] a missing, malformed, forged or foreign credential answers 401 in the shape of SCIM', async () => {
    const forged = `${token.slice(0, -7)}${token.at(-7) === 'A' ? 'B' : 'A'}${token.slice(-6)}`
    const wrong = ['', 'scim_x', forged, `${token}A`, token.toUpperCase()]
    for (const value of wrong) {
      const answer = await scim.get('/Users', bearer(value))
      expect([value, answer.status, answer.headers.get('www-authenticate')]).toEqual([value, 401, 'Bearer'])
      expect(answer.headers.get('content-type')).toBe('application/scim+json; charset=utf-8')
      expect(answer.body).toEqual({ schemas: [errorSchema], status: '401', detail: expect.any(String) })
    }
    expect(await statusWith(null)).toBe(401)
    expect(await statusWith(`Basic ${token}`)).toBe(401)
  })

  test('[scim.gate] a session, a personal access token and a machine token do not open them, and a SCIM token opens nothing else', async () => {
    const pat = (await createToken(service, admin)).token
    const machine = (await createMachine(service, admin, project.environmentId)).token as string
    for (const other of [pat, machine]) expect(await statusWith(`Bearer ${other}`)).toBe(401)
    const query = await fetch(`${service.url}/query`, {
      method: 'POST',
      headers: {
        'x-proxy-auth': headersOf(admin)['x-proxy-auth'] as string,
        ...bearer(token),
        'content-type': 'application/json',
      },
      body: '{"query": "{ me { id } }"}',
    })
    expect(query.status).toBe(401)
  })

  test('[scim.gate] without the proxy secret, the gate answers', async () => {
    const answer = await fetch(`${service.url}/scim/v2/Users`, { headers: bearer(token) })
    expect([answer.status, await answer.json()]).toEqual([
      401,
      expect.objectContaining({ error: expect.stringMatching(/^missing or invalid X-Proxy-Auth/) }),
    ])
  })

  test('[scim.token-refused] wrong tokens are never throttled, run no slow hash and are counted', async () => {
    const runs = async () => (await service.world.metrics.authKdfRuns.get()).values[0]?.value ?? 0
    const before = await runs()
    service.statements.length = 0
    const statuses = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        statusWith(`Bearer scim_${'x'.repeat(43)}${String(index).padStart(6, '0')}`),
      ),
    )
    expect(new Set(statuses)).toEqual(new Set([401]))
    expect(await runs()).toBe(before)
    expect(service.statements.filter((text) => text.includes('scim_tokens'))).toEqual([])
    expect(await statusWith(`Bearer ${token}`)).toBe(200)
    const { values } = await service.world.metrics.auth.get()
    const refused = values.find(({ labels }) => labels['kind'] === 'scim' && labels['outcome'] === 'refused')
    expect(refused?.value).toBeGreaterThanOrEqual(60)
  })

  test('[scim.token] people without the role administrator see and change no token', async () => {
    const ann = await person('ann')
    for (const text of ['{ scimTokens { id } }', 'mutation { createScimToken(name: "x") { token } }']) {
      const { error } = await service.query(ann, text)
      expect(error).toMatch(/requires system role administrator/)
    }
  })
})
