// The slow hash of personal access tokens under pressure, and how soon a use is shown.
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { call, createToken, validate } from '../../../test/kit/credentials.ts'
import { type SeededProject, seedProject } from '../../../test/kit/seed.ts'
import {
  type Token,
  extend,
  kdfRuns,
  seedTokenUsers,
  tokenUse,
  using,
  whoIs,
} from '../../../test/kit/token-use.ts'

let service: TestApp
let replica: TestApp
let project: SeededProject
let ann: Person
let ben: Person
/** A token of ann that no test ends. */
let lasting: Token
/** One that is used once, before the tests. */
let early: Token
let earlyUse: number

const { startReplica, lastUsedAt } = tokenUse(() => ({ service, ann }))

beforeAll(async () => {
  service = await startTestApp({ transport: { extend, loopDelayMs: () => 0 } })
  replica = await startReplica()
  project = await seedProject(service.sql, 'main')
  ;({ ann, ben, lasting, early, earlyUse } = await seedTokenUsers(service))
})
afterAll(async () => {
  await replica.close()
  await service.close()
})

describe('the slow hash', () => {
  test('[access-tokens.bounded-kdf] what overflows the queue answers 503 with Retry-After, and known tokens go on working', async () => {
    const small = await startReplica({ SVC_CREDENTIALS_KDF_THREADS: '1', SVC_CREDENTIALS_KDF_MAX_QUEUE: '1' })
    const [second, third] = [await createToken(service, ann), await createToken(service, ann)]
    const first = await createToken(service, ann)
    await service.sql.query(
      `update personal_access_tokens set hash = replace(hash, 'i=600000', 'i=2400000') where id = $1`,
      [first.id],
    )
    expect(await whoIs(small, lasting.token)).toBe(ann.id)
    const before = await kdfRuns(small)
    let settled = 0
    const slow: Promise<string | number>[] = []
    for (const { token } of [first, second]) {
      const reads = small.statements.length
      slow.push(whoIs(small, token).finally(() => settled++))
      while (small.statements.length === reads) await delay(1)
    }
    while ((await kdfRuns(small)) === before) await delay(1)
    const busy = 'too many credentials are being verified; try again'
    const created = small.query(ben, 'mutation { createPersonalAccessToken(name: "x") { token } }')
    const [query, proxied, known] = await Promise.all([
      call(small.url, '/query', using(third.token), { query: '{ me { id } }' }),
      validate(small.url, `Bearer ${third.token}`, project.applicationId, '203.0.113.3'),
      whoIs(small, lasting.token),
    ])
    expect([known, settled]).toEqual([ann.id, 0])
    expect(query).toMatchObject({ status: 503, body: { errors: [{ message: busy }], data: null } })
    expect(proxied).toMatchObject({ status: 503, body: { valid: false, message: busy } })
    for (const { headers } of [query, proxied]) expect(headers.get('retry-after')).toBe('1')
    expect(await Promise.all(slow)).toEqual([401, ann.id])
    expect((await created).error).toBeNull()
    expect(await kdfRuns(small)).toBe(before + 3)
    expect(await whoIs(small, third.token)).toBe(ann.id)
    await small.close()
  })
})

describe('traces of a use', () => {
  test('[access-tokens.last-used] a use is shown within 30 seconds while the process goes on', async () => {
    let shown = await lastUsedAt(early.id)
    while (shown === null && Date.now() < earlyUse + 30_000) {
      await delay(100)
      shown = await lastUsedAt(early.id)
    }
    expect(Date.parse(shown ?? '')).toBeGreaterThanOrEqual(earlyUse)
  })
})
