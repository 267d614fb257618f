// These tests cover the slow token hash under load, and the delay until a use becomes visible.
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { call, createToken } from '@manager/harness/credentials.ts'
import {
  type Token,
  extend,
  kdfRuns,
  seedTokenUsers,
  tokenHeaders,
  tokenUse,
  userOf,
} from '../../../test/kit/token-use.ts'

let service: TestApp
let replica: TestApp
let ann: Person
/** A token of ann that no test revokes. */
let lasting: Token
/** A token that is used only once, before the tests. */
let early: Token
let earlyUse: number

const { startReplica, lastUsedAt } = tokenUse(() => ({ service, ann }))

beforeAll(async () => {
  service = await startTestApp({ transport: { extend, loopDelayMs: () => 0 } })
  replica = await startReplica()
  ;({ ann, lasting, early, earlyUse } = await seedTokenUsers(service))
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
    expect(await userOf(small, lasting.token)).toBe(ann.id)
    const before = await kdfRuns(small)
    const ask = (token: string) => call(small.url, '/query', tokenHeaders(token), { query: '{ me { id } }' })
    const answers = []
    for (const { token } of [first, second, third]) {
      const reads = small.statements.length
      answers.push(ask(token))
      while (small.statements.length === reads) await delay(1)
    }
    while ((await kdfRuns(small)) === before) await delay(1)
    const busy = 'too many credentials are being verified; try again'
    expect(await userOf(small, lasting.token)).toBe(ann.id)
    // One verification runs and another waits. A newer request replaces the waiting request.
    const [slow, refused, served] = await Promise.all(answers)
    expect(refused).toMatchObject({ status: 503, body: { errors: [{ message: busy }], data: null } })
    expect(refused?.headers.get('retry-after')).toBe('1')
    expect([slow?.status, served?.status]).toEqual([401, 200])
    expect(await kdfRuns(small)).toBe(before + 2)
    expect(await userOf(small, second.token)).toBe(ann.id)
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
