import { pbkdf2, randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { createToken } from '@manager/harness/credentials.ts'
import { seedUser } from '@manager/harness/seed.ts'
import { newId } from '../../platform/ids.ts'

const allFields = 'id name tokenPrefix expiresAt createdAt lastUsedAt revoked'
const timestamp: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const unknown = 'personal access token not found'

let service: TestApp
let admin: Person

beforeAll(async () => {
  service = await startTestApp()
  admin = await seedUser(service.sql, 'admin', 'administrator')
})
afterAll(() => service.close())

const person = (name: string): Promise<Person> => seedUser(service.sql, name)

const create = (caller: Person, input: { name: string; expiresAt?: string | null }) =>
  service.query(
    caller,
    `mutation($name: String!, $expiresAt: String) {
      created: createPersonalAccessToken(name: $name, expiresAt: $expiresAt) { token personalAccessToken { ${allFields} } } }`,
    input,
  )
const revoke = (caller: Person, id: string) =>
  service.query(
    caller,
    'mutation($id: ID!) { revoked: revokePersonalAccessToken(id: $id) { id name revoked } }',
    { id },
  )
const remove = (caller: Person, id: string) =>
  service.query(caller, 'mutation($id: ID!) { deleted: deletePersonalAccessToken(id: $id) }', { id })

type PageArgs = { first?: number | null; after?: string | null }
const askPage = (caller: Person, args: PageArgs) =>
  service.query(
    caller,
    `query($first: Int, $after: String) { page: personalAccessTokens(first: $first, after: $after) {
      edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } totalCount } }`,
    args,
  )
async function page(caller: Person, args: PageArgs = {}) {
  const { data, error } = await askPage(caller, args)
  expect(error).toBeNull()
  const edges = data.page.edges as { cursor: string; node: { id: string } }[]
  const info = data.page.pageInfo as Record<string, string | boolean | null>
  return {
    ids: edges.map((edge) => edge.node.id),
    cursors: edges.map((edge) => edge.cursor),
    info,
    end: info['endCursor'] as string,
    total: data.page.totalCount as number,
  }
}

/** Inserts rows for which no valid token exists. Returns their ids, newest first. */
async function seedTokens(owner: Person, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId())
  const prefixes = ids.map((id) => id.replaceAll('-', '').slice(-8))
  await service.sql.query(
    `insert into personal_access_tokens (id, user_id, name, token_prefix, hash)
     select id, $1, 'seeded', prefix, '$pbkdf2-sha256$seeded' from unnest($2::uuid[], $3::text[]) as seeds (id, prefix)`,
    [owner.id, ids, prefixes],
  )
  return ids.toReversed()
}

const rowOf = async (id: string) => {
  const { rows } = await service.sql.query('select * from personal_access_tokens where id = $1', [id])
  return (rows[0] ?? null) as { hash: string; revoked: boolean; user_id: string } | null
}
const kdfRuns = async () => (await service.world.metrics.authKdfRuns.get()).values[0]?.value ?? 0
/** Returns the audit rows about a token in the system chain. */
const auditRowsAbout = async (id: string) => {
  const { rows } = await service.sql.query(
    `select entity_type, action, description, user_id, changes from audit_logs
     where chain_id = '00000000-0000-0000-0000-000000000000' and entity_id = $1 order by seq`,
    [id],
  )
  return rows
}

describe('making a token', () => {
  test('[access-tokens.create] [access-tokens.fields] the answer holds the token and its row, and the list shows the same row', async () => {
    const ann = await person('ann')
    const { data, error } = await create(ann, { name: 'laptop', expiresAt: '2999-01-31T12:00:00+02:00' })
    expect(error).toBeNull()
    const { token, personalAccessToken } = data.created
    expect(personalAccessToken).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'laptop',
      tokenPrefix: token.slice(4, 12),
      expiresAt: '2999-01-31T10:00:00.000Z',
      createdAt: timestamp,
      lastUsedAt: null,
      revoked: false,
    })
    expect(Math.abs(Date.parse(personalAccessToken.createdAt) - Date.now())).toBeLessThan(30_000)
    const listed = await service.query(ann, `{ myPersonalAccessTokens { ${allFields} user { id } } }`)
    expect(listed.data.myPersonalAccessTokens).toEqual([{ ...personalAccessToken, user: { id: ann.id } }])
  })

  test('[access-tokens.create] without expiresAt a token never expires; names need not differ, tokens do', async () => {
    const bob = await person('bob')
    const made = [await create(bob, { name: 'same' }), await create(bob, { name: 'same', expiresAt: null })]
    const [first, second] = made.map(({ data }) => data.created)
    for (const { personalAccessToken } of [first, second])
      expect(personalAccessToken).toMatchObject({ name: 'same', expiresAt: null })
    expect(first.token.slice(4, 12)).not.toBe(second.token.slice(4, 12))
    expect(first.token.slice(13)).not.toBe(second.token.slice(13))
    expect((await page(bob)).ids).toEqual([second.personalAccessToken.id, first.personalAccessToken.id])
  })

  test('[access-tokens.create] [access-tokens.fields] nothing but the answer to creating it has the token', async () => {
    const { data } = await service.query(
      admin,
      `{ row: __type(name: "PersonalAccessToken") { fields { name type { name ofType { name } } } }
         made: __type(name: "CreatedPersonalAccessToken") { fields { name type { name ofType { name } } } } }`,
    )
    type Field = { name: string; type: { name: string | null; ofType: { name: string } | null } }
    const spelled = (fields: Field[]): string[] =>
      fields.map(({ name, type }) => `${name}: ${type.name ?? `${type.ofType?.name}!`}`)
    expect(spelled(data.made.fields)).toEqual(['token: String!', 'personalAccessToken: PersonalAccessToken!'])
    expect(spelled(data.row.fields)).toEqual([
      'id: ID!',
      'name: String!',
      'tokenPrefix: String!',
      'expiresAt: String',
      'createdAt: String!',
      'updatedAt: String!',
      'revision: Int!',
      'lastUsedAt: String',
      'revoked: Boolean!',
      'user: User!',
    ])
  })

  test('[access-tokens.format] the row keeps a salted PBKDF2-SHA256 hash of 600,000 iterations and no part of the secret', async () => {
    const cleo = await person('cleo')
    // The test also computes hashes in the process of the service, which must not count as overload.
    const transport = { loopDelayMs: () => 0 }
    const real = await startTestApp({ database: service.database, limits: 'production', transport })
    const [one, two] = [await createToken(real, cleo), await createToken(real, cleo)]
    await real.close()
    const salts: string[] = []
    for (const { id, token, tokenPrefix } of [one, two]) {
      expect(token).toMatch(/^pat_[0-9A-Za-z]{8}_[0-9A-Za-z]{32}$/)
      expect(tokenPrefix).toBe(token.slice(4, 12))
      const row = await rowOf(id)
      const [, salt = '', hash = ''] =
        /^\$pbkdf2-sha256\$i=600000\$([\w-]{22})\$([\w-]{43})$/.exec(row?.hash ?? '') ?? []
      const derived = await promisify(pbkdf2)(token, Buffer.from(salt, 'base64url'), 600_000, 32, 'sha256')
      expect(hash).toBe(derived.toString('base64url'))
      salts.push(salt)
      const secret = token.slice(13)
      for (const part of [secret, secret.slice(0, 26), secret.slice(-6)])
        expect(JSON.stringify(row)).not.toContain(part)
    }
    expect(salts[0]).not.toBe(salts[1])
  })

  test('[access-tokens.create] an expiresAt that is malformed or not in the future is refused before anything is hashed', async () => {
    const dora = await person('dora')
    const before = await kdfRuns()
    const form = 'expiresAt must be an RFC 3339 timestamp such as 2027-01-31T12:00:00Z'
    const past = 'expiresAt must be in the future'
    for (const [expiresAt, text] of [
      ['tomorrow', form],
      ['', form],
      ['2999-01-31', form],
      ['2999-01-31T12:00:00', form],
      ['2999-02-30T12:00:00Z', form],
      ['2999-01-31T25:00:00Z', form],
      ['32503680000', form],
      ['2020-01-31T12:00:00Z', past],
      [new Date(Date.now() - 1).toISOString(), past],
    ] as const) {
      const answer = await create(dora, { name: 'late', expiresAt })
      expect([answer.error, answer.data]).toEqual([text, null])
    }
    expect(await kdfRuns()).toBe(before)
    expect((await page(dora)).total).toBe(0)
  })

  test('[access-tokens.create] a name has 1 to 100 characters and no control characters', async () => {
    const eve = await person('eve')
    const before = await kdfRuns()
    const [length, characters] = [
      'name must have 1 to 100 characters',
      'name must not contain control characters or malformed Unicode',
    ]
    for (const [name, text] of [
      ['', length],
      ['   ', length],
      ['x'.repeat(101), length],
      ['a\u0000b', characters],
      ['a\u001bb', characters],
    ] as const) {
      const answer = await create(eve, { name })
      expect([answer.error, answer.data]).toEqual([text, null])
    }
    expect(await kdfRuns()).toBe(before)
    expect((await page(eve)).total).toBe(0)
    const longest = '🦊'.repeat(100)
    expect((await create(eve, { name: longest })).data.created.personalAccessToken.name).toBe(longest)
  })
})

describe('lists of tokens', () => {
  test('[access-tokens.reach] people see their own tokens, administrators everyone’s', async () => {
    const [ann, ben] = [await person('reach-ann'), await person('reach-ben')]
    const [ofAnn, ofBen] = [await seedTokens(ann, 2), await seedTokens(ben, 1)]
    const ofAdmin = await seedTokens(admin, 1)
    const mine = async (caller: Person) => {
      const { data } = await service.query(caller, '{ rows: myPersonalAccessTokens { id } }')
      return (data.rows as { id: string }[]).map(({ id }) => id).toSorted()
    }
    for (const [caller, own] of [
      [ann, ofAnn],
      [ben, ofBen],
    ] as const) {
      expect(await mine(caller)).toEqual(own.toSorted())
      expect(await page(caller)).toMatchObject({ ids: own, total: own.length })
    }
    expect(await mine(admin)).toEqual(ofAdmin)
    const { rows } = await service.sql.query('select id from personal_access_tokens order by id desc')
    const all = rows.map(({ id }: { id: string }) => id)
    expect(all).toEqual(expect.arrayContaining([...ofAnn, ...ofBen, ...ofAdmin]))
    expect(await page(admin)).toMatchObject({ ids: all.slice(0, 100), total: all.length })
    const { data } = await service.query(
      admin,
      '{ page: personalAccessTokens(first: 4) { edges { node { id user { id } } } } }',
    )
    expect(data.page.edges[1].node).toEqual({ id: ofBen[0], user: { id: ben.id } })
    // A cursor sets only the position in the list; it does not grant access.
    const { cursors } = await page(admin, { first: 1 })
    expect((await page(ann, { after: cursors[0] as string })).ids).toEqual(ofAnn)
  })

  test('[access-tokens.reach] tokens of others can be ended by administrators only, and read as unknown', async () => {
    const [ann, mallory] = [await person('end-ann'), await person('mallory')]
    const [first, second] = (await seedTokens(ann, 2)) as [string, string]
    for (const id of [first, randomUUID(), 'nothing', ''])
      for (const end of [revoke, remove]) {
        const answer = await end(mallory, id)
        expect([answer.error, answer.data]).toEqual([unknown, null])
      }
    expect(await rowOf(first)).toMatchObject({ revoked: false })
    expect(await auditRowsAbout(first)).toEqual([])
    expect((await revoke(admin, first)).data.revoked).toMatchObject({ id: first, revoked: true })
    expect((await remove(admin, second)).data).toEqual({ deleted: true })
    expect([(await rowOf(first))?.revoked, await rowOf(second)]).toEqual([true, null])
    const actors = [...(await auditRowsAbout(first)), ...(await auditRowsAbout(second))]
    expect(actors.map(({ user_id }) => user_id as string)).toEqual([admin.id, admin.id])
  })

  test('[access-tokens.connection] [access-tokens.page-info] pages follow each other from the newest to the oldest', async () => {
    const owner = await person('pager')
    const ids = await seedTokens(owner, 5)
    const first = await page(owner, { first: 2 })
    expect(first).toMatchObject({ ids: ids.slice(0, 2), total: 5 })
    expect(first.info).toEqual({
      hasNextPage: true,
      hasPreviousPage: false,
      startCursor: first.cursors[0],
      endCursor: first.cursors[1],
    })
    const second = await page(owner, { first: 2, after: first.end })
    expect(second).toMatchObject({ ids: ids.slice(2, 4), total: 5 })
    expect(second.info).toEqual({
      hasNextPage: true,
      hasPreviousPage: true,
      startCursor: second.cursors[0],
      endCursor: second.cursors[1],
    })
    const last = await page(owner, { first: 1, after: second.end })
    expect(last).toMatchObject({ ids: ids.slice(4), info: { hasNextPage: false, hasPreviousPage: true } })
    // The list continues after any cursor, not only after the last cursor of a page.
    expect((await page(owner, { after: first.cursors[0] as string })).ids).toEqual(ids.slice(1))
    expect(new Set([...first.cursors, ...second.cursors, ...last.cursors]).size).toBe(5)
  })

  test('[access-tokens.page-info] an empty page has no cursors, before the first token and behind the last', async () => {
    const owner = await person('empty')
    const nothing = { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null }
    expect(await page(owner)).toMatchObject({ ids: [], info: nothing, total: 0 })
    const [id] = (await seedTokens(owner, 1)) as [string]
    const only = await page(owner, { first: 1 })
    expect(only.info).toMatchObject({ hasNextPage: false, hasPreviousPage: false })
    const behind = await page(owner, { after: only.end })
    expect(behind).toMatchObject({ ids: [], info: { ...nothing, hasPreviousPage: true }, total: 1 })
    await remove(owner, id)
    expect(await page(owner, { after: only.end })).toMatchObject({ ids: [], info: nothing, total: 0 })
  })

  test('[access-tokens.connection] first is from 1 to 100, and 100 when it is not given', async () => {
    const owner = await person('many')
    const ids = await seedTokens(owner, 101)
    for (const args of [{}, { first: null }, { first: null, after: null }, { first: 100 }]) {
      const { ids: shown, info, total } = await page(owner, args)
      expect([shown, info['hasNextPage'], total]).toEqual([ids.slice(0, 100), true, 101])
    }
    expect((await page(owner, { first: 1 })).ids).toEqual(ids.slice(0, 1))
    for (const first of [0, -1, 101, 2_147_483_647]) {
      const answer = await askPage(owner, { first })
      expect([answer.error, answer.data]).toEqual(['first must be from 1 to 100', null])
    }
  })

  test('[access-tokens.connection] a cursor that is none of ours is refused', async () => {
    const [id] = (await seedTokens(await person('cursors'), 1)) as [string]
    const encoded = (text: string) => Buffer.from(text).toString('base64url')
    const wrong = [encoded(id), encoded(`id:${id}x`), encoded('id:')]
    for (const after of ['nonsense', id, ...wrong, 'x'.repeat(9_000)]) {
      const answer = await askPage(admin, { after })
      expect(answer.error).toBe('after is not a valid cursor; use endCursor of the previous page')
      expect(answer.data).toBeNull()
    }
  })

  test('[access-tokens.connection] pages neither repeat nor skip while tokens come and go between them', async () => {
    const owner = await person('busy')
    const ids = await seedTokens(owner, 8)
    const first = await page(owner, { first: 3 })
    expect(first.ids).toEqual(ids.slice(0, 3))
    await createToken(service, owner)
    // Delete a token that was already returned, the token of the cursor, and a token on the next page.
    for (const gone of [ids[0], ids[2], ids[4]])
      expect((await remove(owner, gone as string)).error).toBeNull()
    const second = await page(owner, { first: 2, after: first.end })
    expect(second).toMatchObject({ ids: [ids[3], ids[5]], total: 6 })
    await createToken(service, owner)
    await remove(owner, ids[5] as string)
    const third = await page(owner, { first: 2, after: second.end })
    expect(third).toMatchObject({ ids: [ids[6], ids[7]], info: { hasNextPage: false }, total: 6 })
  })
})

describe('ending a token', () => {
  test('[access-tokens.revoke-delete] revoking answers id, name and revoked and keeps the row; a second time changes nothing', async () => {
    const owner = await person('revoker')
    const [id] = (await seedTokens(owner, 1)) as [string]
    for (const time of ['first', 'second']) {
      const { data, error } = await revoke(owner, id)
      expect([time, error, data]).toEqual([time, null, { revoked: { id, name: 'seeded', revoked: true } }])
      expect(await rowOf(id)).toMatchObject({ revoked: true })
      expect((await auditRowsAbout(id)).map(({ action }) => action as string)).toEqual(['revoke'])
    }
    const { data } = await service.query(owner, '{ rows: myPersonalAccessTokens { id revoked } }')
    expect(data.rows).toEqual([{ id, revoked: true }])
  })

  test('[access-tokens.revoke-delete] deleting removes the row, also of a revoked token; afterwards the id is unknown', async () => {
    const owner = await person('deleter')
    const [kept, active, revoked] = (await seedTokens(owner, 3)) as [string, string, string]
    await revoke(owner, revoked)
    for (const id of [active, revoked.toUpperCase()]) {
      expect((await remove(owner, id)).data).toEqual({ deleted: true })
      expect(await rowOf(id)).toBeNull()
      expect((await remove(owner, id)).error).toBe(unknown)
      expect((await revoke(owner, id)).error).toBe(unknown)
    }
    expect((await page(owner)).ids).toEqual([kept])
  })

  test('making, revoking and deleting a token stand in the trail of the system, without any secret', async () => {
    const owner = await person('trail')
    const expiresAt = '2999-01-31T12:00:00.000Z'
    const { id, token, tokenPrefix } = await createToken(service, owner, { name: 'ci', expiresAt })
    const hash = (await rowOf(id))?.hash as string
    await revoke(owner, id)
    await remove(owner, id)
    const values = { id, userId: owner.id, name: 'ci', tokenPrefix, expiresAt }
    const each = (show: (value: unknown) => object, row: object) =>
      Object.fromEntries(Object.entries(row).map(([key, value]) => [key, show(value)]))
    const about = { entity_type: 'personalAccessToken', user_id: owner.id }
    const called = `personalAccessToken ci (${tokenPrefix})`
    const added = each((after) => ({ before: null, after }), { ...values, revoked: false })
    const removed = each((before) => ({ before, after: null }), { ...values, revoked: true })
    const ended = { revoked: { before: false, after: true } }
    const rows = await auditRowsAbout(id)
    expect(rows).toEqual([
      { ...about, action: 'create', description: `${called} created`, changes: added },
      { ...about, action: 'revoke', description: `${called} revoked`, changes: ended },
      { ...about, action: 'delete', description: `${called} deleted`, changes: removed },
    ])
    for (const secret of [token.slice(13), token.slice(-6), hash, hash.slice(-43)])
      expect(JSON.stringify(rows)).not.toContain(secret)
  })
})
