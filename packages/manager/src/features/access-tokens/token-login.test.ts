// These tests use personal access tokens on every route that needs a user, with several replicas on one
// database.
import { createSecretKey, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, headersOf, masterKey, proxySecret } from '@manager/harness/callers.ts'
import type { TestApp } from '../../../test/kit/app.ts'
import { bearer, call, createToken, validate } from '@manager/harness/credentials.ts'
import { rawCall } from '../../../test/kit/http.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedMember, seedUser } from '@manager/harness/seed.ts'
import {
  type Token,
  ask,
  extend,
  kdfRuns,
  seedTokenUsers,
  tokenHeaders,
  tokenUse,
  userOf,
  userRoutes,
} from '../../../test/kit/token-use.ts'
import { deriveSecretKey } from '../../platform/secrets/keys.ts'
import type { World } from '../../world.ts'
import { buildToken } from './token.pure.ts'

const notThroughProxy = /the request did not come through the trusted proxy/
const invalid = 'invalid personal access token: it is unknown, expired or revoked; create a new one'
/** A token in the format of a different issuer. */
const foreign = 'eyJhbGciOiJIUzI1NiJ9.e30.x'
const checkKey = deriveSecretKey(Buffer.from(masterKey, 'base64'), 'access-token-check')

let replica: TestApp
let ann: Person
let ben: Person
/** A token of ann that no test revokes. */
let lasting: Token
/** A token that is used only once, before the tests. */
let early: Token
let earlyUse: number

const { startReplica, lastUsedAt } = tokenUse(() => ({ service, ann }))

const { service, admin, project } = useProject({ transport: { extend } })
beforeAll(async () => {
  replica = await startReplica()
  ;({ ann, ben, lasting, early, earlyUse } = await seedTokenUsers(service))
})
afterAll(async () => {
  await replica.close()
})

/** Returns the status that the proxy receives for the token. Failures count against the client at this address. */
const validated = async (app: TestApp, token: string, client: string): Promise<number> =>
  (await validate(app.url, `Bearer ${token}`, project.applicationId, client)).status
const end = (operation: 'revoke' | 'delete', caller: Person, id: string) => {
  const fields = operation === 'revoke' ? '{ id }' : ''
  const text = `mutation($id: ID!) { done: ${operation}PersonalAccessToken(id: $id) ${fields} }`
  return service.query(caller, text, { id })
}

describe('a token in use', () => {
  test('past the gate it acts as its owner on every route that declares to need a user', async () => {
    const headers = tokenHeaders(lasting.token)
    const me = await ask(service, headers, '{ me { id externalName role } }')
    expect(me.data.me).toEqual({ id: ann.id, externalName: 'ann', role: 'user' })
    for (const path of userRoutes) {
      expect(await call(service.url, path, headers)).toMatchObject({ status: 200, body: { id: ann.id } })
      const refused = await call(service.url, path, tokenHeaders('pat_nothing'))
      expect(refused).toMatchObject({ status: 401, body: { error: invalid } })
    }
    expect((await call(service.url, '/api/audit/closed', headers)).status).toBe(403)
    const { token } = await createToken(service, admin)
    expect((await call(service.url, '/api/audit/closed', tokenHeaders(token))).body).toEqual({ id: admin.id })
  })

  test('[access-tokens.routes] it writes as its owner, and the trail says so', async () => {
    const text = 'mutation { made: createPersonalAccessToken(name: "x") { personalAccessToken { id } } }'
    const { data } = await ask(service, bearer(lasting.token), text)
    const { rows } = await service.sql.query(
      `select t.user_id as owner, a.user_id as actor from personal_access_tokens t
       join audit_logs a on a.entity_id = t.id::text where t.id = $1`,
      [data.made.personalAccessToken.id],
    )
    expect(rows).toEqual([{ owner: ann.id, actor: ann.id }])
  })

  test('[access-tokens.routes] the scheme is read in any case and with any number of spaces', async () => {
    for (const scheme of ['bearer ', 'BEARER ', 'Bearer   ']) {
      const { data } = await ask(service, { authorization: scheme + lasting.token })
      expect(data.me.id).toBe(ann.id)
    }
  })

  test('a token decides against the identity of another person, who is not even made known', async () => {
    const stranger = { id: randomUUID(), name: 'stranger', email: 'stranger@example.com' }
    for (const other of [ben, stranger]) {
      const { data } = await ask(service, { ...headersOf(other), ...bearer(lasting.token) })
      expect(data.me.id).toBe(ann.id)
    }
    const { rows } = await service.sql.query('select id from users where id = $1', [stranger.id])
    expect(rows).toEqual([])
  })

  test('a token that does not hold is refused beside a good identity, and nothing falls back to that', async () => {
    const ended = await createToken(service, ann)
    await end('revoke', ann, ended.id)
    for (const token of [ended.token, 'pat_', `${lasting.token}x`, lasting.token.toLowerCase()]) {
      const answer = await ask(service, { ...headersOf(ann), ...bearer(token) })
      expect([answer.status, answer.error, answer.data]).toEqual([401, invalid, null])
    }
  })

  test('an Authorization header that is no personal access token is left alone beside an identity', async () => {
    const others = [`Bearer ${foreign}`, 'Bearer xpat_a', 'Basic YTpi', 'Negotiate', '']
    for (const authorization of others) {
      const { data } = await ask(service, { ...headersOf(ben), authorization })
      expect(data.me.id).toBe(ben.id)
      const alone = await ask(service, { authorization })
      expect([alone.status, alone.error]).toEqual([401, expect.stringMatching(/^no authenticated user/)])
    }
  })

  test('two Authorization headers are refused, whichever of them holds', async () => {
    const post = { method: 'POST', path: '/query', body: '{"query":"{ me { id } }"}' }
    const others: [string, string][] = [
      ['content-type', 'application/json'],
      ...Object.entries(headersOf(ann)),
    ]
    for (const [first, second] of [
      [lasting.token, foreign],
      [foreign, lasting.token],
      [lasting.token, lasting.token],
    ] as const) {
      const headers = [...others, ['Authorization', `Bearer ${first}`], ['authorization', `Bearer ${second}`]]
      const { status, body } = await rawCall(service.url, { ...post, headers: headers as typeof others })
      expect([status, body]).toEqual([401, expect.stringMatching(/"error":"[^"]* is sent more than once/)])
    }
  })

  test('several tokens of a person work side by side, and ending one leaves the others', async () => {
    const [first, second] = [await createToken(service, ben), await createToken(service, ben)]
    for (const { token } of [first, second]) expect(await userOf(service, token)).toBe(ben.id)
    await end('revoke', ben, first.id)
    expect([await userOf(service, first.token), await userOf(service, second.token)]).toEqual([401, ben.id])
  })

  test('what the owner loses, the token loses for the next request', async () => {
    const owner = await seedUser(service.sql, 'demoted', 'administrator')
    const memberId = await seedMember(service.sql, ben, 'readonly', { projectId: project.id })
    const [ofOwner, ofBen] = [await createToken(service, owner), await createToken(service, ben)]
    const asOwner = () => call(replica.url, '/api/audit/closed', tokenHeaders(ofOwner.token))
    const asBen = () => ask(replica, bearer(ofBen.token), '{ project(slug: "main") { id } }')
    expect((await asOwner()).status).toBe(200)
    expect((await asBen()).data).toEqual({ project: { id: project.id } })
    const demote = 'mutation($id: ID!) { updateUserSystemRole(id: $id, role: "user") { role } }'
    expect((await service.query(admin, demote, { id: owner.id })).error).toBeNull()
    const leave = 'mutation($id: ID!) { removeUserFromProject(id: $id) }'
    expect((await service.query(admin, leave, { id: memberId })).error).toBeNull()
    expect((await asOwner()).status).toBe(403)
    expect((await asBen()).error).toBe('project not found')
  })
})

describe('the end of a token', () => {
  test('[access-tokens.immediate] revoked or deleted, it fails on the next request on every replica that knew it', async () => {
    for (const [operation, caller] of [
      ['revoke', ben],
      ['delete', ben],
      ['revoke', admin],
    ] as const) {
      const { id, token } = await createToken(service, ben)
      for (const app of [service, replica]) expect(await userOf(app, token)).toBe(ben.id)
      expect((await end(operation, caller, id)).error).toBeNull()
      for (const app of [replica, service]) {
        expect(await ask(app, bearer(token))).toMatchObject({ status: 401, error: invalid, data: null })
        expect((await call(app.url, '/pilets/x', tokenHeaders(token))).status).toBe(401)
        expect(await validated(app, token, '203.0.113.1')).toBe(401)
      }
    }
  })

  test('[access-tokens.immediate] it works until expiresAt and fails from then on', async () => {
    const { id, token } = await createToken(service, ben, { expiresAt: '2999-01-31T12:00:00Z' })
    const { rows } = await service.sql.query<{ at: Date }>(
      "update personal_access_tokens set expires_at = now() + interval '1 second' where id = $1 returning expires_at as at",
      [id],
    )
    const expiry = rows[0]?.at.getTime() ?? 0
    const seen: { began: number; ended: number; status: number }[] = []
    while (seen.at(-1)?.status !== 401) {
      const began = Date.now()
      const { status } = await ask(service, bearer(token))
      seen.push({ began, ended: Date.now(), status })
      await delay(20)
    }
    expect(seen.filter(({ ended, status }) => ended < expiry && status !== 200)).toEqual([])
    expect(seen.filter(({ began, status }) => began >= expiry && status !== 401)).toEqual([])
  })

  test('[access-tokens.immediate] a replica that knows the token refuses it when it has expired', async () => {
    const { id, token } = await createToken(service, ben, { expiresAt: '2999-01-31T12:00:00Z' })
    for (const app of [service, replica]) expect(await userOf(app, token)).toBe(ben.id)
    await service.sql.query('update personal_access_tokens set expires_at = now() where id = $1', [id])
    for (const app of [service, replica])
      expect(await ask(app, bearer(token))).toMatchObject({ status: 401, error: invalid })
  })
})

describe('tokens that we never issued', () => {
  test('[access-tokens.keyed-check] one that fails the check is refused without the KDF and without being looked up', async () => {
    const otherKey = createSecretKey(Buffer.alloc(32, 1))
    const elsewhere = buildToken('aB3dE6gH', 'abcdefghijklmnopqrstuvwxyz', otherKey)
    const { token } = lasting
    const changed = [4, 11, 13, 38, 39, 44].map(
      (at) => token.slice(0, at) + (token.charAt(at) === 'a' ? 'b' : 'a') + token.slice(at + 1),
    )
    const malformed = [token.slice(0, -1), `${token}0`, 'pat_x', `pat_${'x'.repeat(8_000)}`]
    const fresh = await startReplica()
    fresh.statements.length = 0
    for (const [at, text] of [elsewhere, ...changed, ...malformed].entries()) {
      expect(await ask(fresh, bearer(text))).toMatchObject({ status: 401, error: invalid })
      expect(await validated(fresh, text, `203.0.113.${100 + at}`)).toBe(401)
    }
    // The only statement checks whether tokens without a checksum exist. The result of this check is cached for 5 s.
    expect(await kdfRuns(fresh)).toBe(0)
    expect(fresh.statements.filter((text) => !text.includes('where not has_check'))).toEqual([])
    await fresh.close()
  })

  test('[access-tokens.keyed-check] with another master key no token of before passes the check', async () => {
    const other = await startReplica({ SVC_MASTER_KEY: Buffer.alloc(32, 8).toString('base64') })
    expect(await userOf(other, lasting.token)).toBe(401)
    expect(await kdfRuns(other)).toBe(0)
    await other.close()
  })

  test('[access-tokens.keyed-check] one with a right check is looked up, and hashed once when its prefix is taken', async () => {
    const runs = await kdfRuns(replica)
    const unknown = buildToken('00000000', 'abcdefghijklmnopqrstuvwxyz', checkKey)
    expect([await userOf(replica, unknown), await kdfRuns(replica)]).toEqual([401, runs])
    const guessed = buildToken(lasting.tokenPrefix, 'abcdefghijklmnopqrstuvwxyz', checkKey)
    for (const time of ['first', 'second'])
      expect([time, await userOf(replica, guessed), await kdfRuns(replica)]).toEqual([time, 401, runs + 1])
  })

  test('without the right proxy secret the token is not examined, whatever the route', async () => {
    const fresh = await startReplica()
    const { id, token } = await createToken(service, ann)
    fresh.statements.length = 0
    for (const path of ['/query', ...userRoutes])
      for (const secret of ['', 'wrong', `${proxySecret}x`, null]) {
        const gate: Record<string, string> = secret === null ? {} : { 'x-proxy-auth': secret }
        const body = path === '/query' ? { query: '{ me { id } }' } : undefined
        const answer = await call(fresh.url, path, { ...gate, ...bearer(token) }, body)
        expect(answer).toMatchObject({ status: 401, body: { error: expect.stringMatching(notThroughProxy) } })
        expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
      }
    expect([await kdfRuns(fresh), fresh.statements]).toEqual([0, []])
    await fresh.close()
    expect(await lastUsedAt(id)).toBeNull()
  })
})

describe('the slow hash', () => {
  test('[access-tokens.bounded-kdf] it runs once per token and process, however many requests bring the token at once', async () => {
    const fresh = await startReplica()
    const { token } = await createToken(service, ann)
    const answers = await Promise.all(Array.from({ length: 20 }, () => userOf(fresh, token)))
    expect(new Set(answers)).toEqual(new Set([ann.id]))
    expect(await userOf(fresh, token)).toBe(ann.id)
    expect(await kdfRuns(fresh)).toBe(1)
    await fresh.close()
  })
})

describe('traces of a use', () => {
  test('[access-tokens.last-used] authentication only reads; the use is written when the process ends', async () => {
    const fresh = await startReplica()
    const { id, token } = await createToken(service, ann)
    const began = Date.now()
    for (const time of ['unknown', 'known']) {
      fresh.statements.length = 0
      expect([time, await userOf(fresh, token)]).toEqual([time, ann.id])
      expect(fresh.statements).toEqual([expect.stringMatching(/^\s*select /)])
    }
    const ended = Date.now()
    expect(await lastUsedAt(id)).toBeNull()
    await fresh.close()
    const at = Date.parse((await lastUsedAt(id)) ?? '')
    expect([at >= began, at <= ended]).toEqual([true, true])
  })

  test('[access-tokens.last-used] a use at the proxy counts; later ones move it forward, and earlier ones nothing', async () => {
    const { id, token } = await createToken(service, ann)
    const uses = {
      atProxy: (app: TestApp) => validated(app, token, '203.0.113.4'),
      onRoute: async (app: TestApp) => (await call(app.url, '/pilets/x', tokenHeaders(token))).status,
    }
    const after = async (use: keyof typeof uses, world: Partial<World> = {}): Promise<number> => {
      const fresh = await startReplica({}, world)
      expect(await uses[use](fresh)).toBe(200)
      await fresh.close()
      return Date.parse((await lastUsedAt(id)) ?? '')
    }
    const first = await after('atProxy')
    expect(Math.abs(first - Date.now())).toBeLessThan(30_000)
    const second = await after('onRoute')
    expect(second).toBeGreaterThan(first)
    expect(await after('onRoute', { clock: { now: () => new Date(first) } })).toBe(second)
  })

  test('no token stands in the log, whether it was made, used or refused', async () => {
    const before = service.logLines.length
    const { token } = await createToken(service, ann)
    const forged = `${token.slice(0, -1)}${token.endsWith('a') ? 'b' : 'a'}`
    for (const text of [token, forged]) {
      await ask(service, bearer(text))
      await call(service.url, '/pilets/x', tokenHeaders(text))
      await validated(service, text, '203.0.113.5')
    }
    // The log line is written after the response is sent, so the client may receive the response first.
    while (service.logLines.length < before + 7) await delay(5)
    const lines = service.logLines.slice(before)
    expect(lines.map(({ status }) => status)).toEqual(expect.arrayContaining(['200', '401']))
    for (const part of [token.slice(13, 39), token, forged]) expect(JSON.stringify(lines)).not.toContain(part)
  })

  test('[access-tokens.last-used] a use is shown while the process goes on', async () => {
    await expect.poll(() => lastUsedAt(early.id)).not.toBeNull()
    expect(Date.parse((await lastUsedAt(early.id)) ?? '')).toBeGreaterThanOrEqual(earlyUse)
  })
})
