// These tests cover tokens from an older installation: they still work, and guessing them is expensive.
import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import type { TestApp } from '../../../test/kit/app.ts'
import { bearer, createToken, validate } from '@manager/harness/credentials.ts'
import { planOf } from '../../../test/kit/plans.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedOldToken } from '@manager/harness/seed.ts'
import { ask, extend, kdfRuns, tokenUse, userOf } from '../../../test/kit/token-use.ts'

const { service, project, person } = useProject({ transport: { extend } })
let ann: Person
beforeAll(async () => {
  ann = await person('ann')
})
const { startReplica, lastUsedAt } = tokenUse(() => ({ service, ann }))

const validated = async (app: TestApp, token: string, client = '203.0.113.1'): Promise<number> =>
  (await validate(app.url, `Bearer ${token}`, project.applicationId, client)).status
const forged = (prefix: string): string => `pat_${prefix}_${randomBytes(16).toString('hex')}`
const uncheckedReads = (app: TestApp): number =>
  app.statements.filter((text) => text.includes('where not has_check')).length

describe('without tokens of an old install', () => {
  test('a token without our check is not looked up, and one statement in a while says why', async () => {
    const own = await createToken(service, ann)
    const fresh = await startReplica()
    fresh.statements.length = 0
    const tokens = Array.from({ length: 10 }, () => forged(own.tokenPrefix))
    const answers = await Promise.all(tokens.map((token) => userOf(fresh, token)))
    expect(new Set(answers)).toEqual(new Set([401]))
    for (const token of tokens.slice(0, 3)) expect(await validated(fresh, token)).toBe(401)
    expect([uncheckedReads(fresh), fresh.statements.length, await kdfRuns(fresh)]).toEqual([1, 1, 0])
    expect(await planOf(service.database.url, fresh.statements[0] as string)).toEqual([
      'Limit',
      ' Index Scan personal_access_tokens personal_access_tokens_unchecked_idx',
    ])
    await fresh.close()
  })
})

describe('a token of an old install', () => {
  test('it works on GraphQL and at the proxy, hashed once per process, and its use is noted', async () => {
    const old = await seedOldToken(service.sql, ann)
    const fresh = await startReplica()
    const many = await Promise.all(Array.from({ length: 20 }, () => userOf(fresh, old.token)))
    expect(new Set(many)).toEqual(new Set([ann.id]))
    expect(await validate(fresh.url, `Bearer ${old.token}`, project.applicationId)).toMatchObject({
      status: 200,
      body: { valid: true, user: { id: ann.id } },
    })
    expect(await kdfRuns(fresh)).toBe(1)
    await fresh.close()
    expect(await lastUsedAt(old.id)).not.toBeNull()
  })

  test('a revoked, an expired and a deleted one are refused at once, also where they are known', async () => {
    const ends = [
      'update personal_access_tokens set revoked = true where id = $1',
      'update personal_access_tokens set expires_at = now() where id = $1',
      'delete from personal_access_tokens where id = $1',
    ]
    const [known, unknown] = [await startReplica(), await startReplica()]
    // Another token without a checksum remains, so the service still looks up tokens without a checksum.
    await seedOldToken(service.sql, ann)
    for (const end of ends) {
      const old = await seedOldToken(service.sql, ann)
      expect([await userOf(known, old.token), await validated(known, old.token)]).toEqual([ann.id, 200])
      await service.sql.query(end, [old.id])
      for (const app of [known, unknown])
        expect([await userOf(app, old.token), await validated(app, old.token)]).toEqual([401, 401])
    }
    expect(await kdfRuns(unknown)).toBe(0)
    await known.close()
    await unknown.close()
  })

  test('a token with a check is never hashed without it', async () => {
    await seedOldToken(service.sql, ann)
    const own = await createToken(service, ann)
    const fresh = await startReplica()
    for (const token of [forged(own.tokenPrefix), forged('00000000'), `${own.token.slice(0, -1)}~`])
      expect([await userOf(fresh, token), await validated(fresh, token)]).toEqual([401, 401])
    expect(await kdfRuns(fresh)).toBe(0)
    expect(await userOf(fresh, own.token)).toBe(ann.id)
    await fresh.close()
  })

  test('made-up ones with its prefix, however many at once, are hashed as often as the throttle allows', async () => {
    const old = await seedOldToken(service.sql, ann)
    const [attacked, other] = [await startReplica(), await startReplica()]
    expect(await userOf(attacked, old.token)).toBe(ann.id)
    const before = await kdfRuns(attacked)
    const guess = () => ask(attacked, bearer(forged(old.tokenPrefix)))
    const answers = await Promise.all(Array.from({ length: 40 }, guess))
    // The queue was full and rejected some guesses, so the test resends those guesses.
    for (let more = 0; more < 10; more++) answers.push(await guess())
    const statuses = new Set(answers.map(({ status }) => status))
    expect([...statuses].filter((status) => ![401, 503].includes(status))).toEqual([])
    // The status is not 429, because the GraphQL API has no rate limit.
    expect(answers.at(-1)).toMatchObject({
      status: 503,
      error: 'too many wrong tokens with this prefix; try again later',
    })
    expect((await kdfRuns(attacked)) - before).toBe(5)
    // The token still works on the replica that has already verified it. The block applies only to this prefix, but on
    // every replica.
    expect(await userOf(attacked, old.token)).toBe(ann.id)
    expect([await userOf(other, forged(old.tokenPrefix)), await kdfRuns(other)]).toEqual([503, 0])
    expect(await validated(other, forged(old.tokenPrefix))).toBe(429)
    const second = await seedOldToken(service.sql, ann)
    expect(await userOf(other, second.token)).toBe(ann.id)
    await attacked.close()
    await other.close()
  })
})
