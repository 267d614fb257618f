// Tests how failed validations lock out a client, and which callers are not affected by a lockout.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from '../kit/app.ts'
import {
  type JsonAnswer,
  basicValue,
  call,
  createToken,
  statuses,
  throughProxy,
  validate,
} from '@manager/harness/credentials.ts'
import { expectLocked, failedValidations } from '../kit/failed-validations.ts'
import { type SeededProject, seedMachineUser, seedProject, seedUser } from '@manager/harness/seed.ts'
import { fail as failMachine } from '../kit/wrong-machine-tokens.ts'

let service: TestApp
/** A second process of the same installation. */
let twin: TestApp
let owner: Person
let project: SeededProject
let token: string
let machineToken: string

beforeAll(async () => {
  service = await startTestApp()
  twin = await startTestApp({ database: service.database })
  owner = await seedUser(service.sql, 'owner')
  project = await seedProject(service.sql, 'main')
  token = (await createToken(service, owner)).token
  machineToken = (await seedMachineUser(service.sql, project)).token
  await vi.waitUntil(() => [service, twin].every((app) => app.world.redis.isUp()), { timeout: 60_000 })
})
afterAll(async () => {
  await twin.close()
  await service.close()
})

const { nextClient, basicUser, validateFrom, failCheaply, guessPassword, expectFiveTried } =
  failedValidations(() => ({
    service,
    project,
  }))
const oauth = (client: string) =>
  call(service.url, '/api/validate-oauth-user', throughProxy(client), {
    user_id: owner.id,
    application_id: project.applicationId,
  })
const malformed = (client: string, app = service) =>
  call(app.url, '/api/validate-oauth-user', throughProxy(client), { user_id: 'nobody' })
const times = (count: number, status: number): number[] => Array.from({ length: count }, () => status)
async function lockOut(client: string): Promise<void> {
  expect(await statuses(11, () => failCheaply(client))).toEqual([...times(10, 401), 429])
}

/**
 * Sends failing requests to the two processes alternately until one of them locks out the client. Each process
 * receives fewer failures than its own limit. Returns the number of failures.
 */
async function untilLocked(most: number, send: (app: TestApp) => Promise<JsonAnswer>): Promise<number> {
  for (let count = 0; count < 2 * most; count++)
    if ((await send(count % 2 === 0 ? service : twin)).status === 429) return count
  throw new Error('neither process refused')
}

describe('a client that fails too often', () => {
  test('[proxy-auth.lockout] is locked out for five minutes by its tenth failure', async () => {
    const client = nextClient()
    const lockouts = async () =>
      (await service.world.metrics.lockouts.get()).values.find(
        ({ labels }) => labels['throttle'] === 'validate',
      )?.value
    const before = await lockouts()
    expect(await statuses(10, () => failCheaply(client))).toEqual(times(10, 401))
    expectLocked(await failCheaply(client), 300)
    expectLocked(await failCheaply(client), 300)
    expect(await lockouts()).toBe((before ?? 0) + 1)
  })

  test('[proxy-auth.lockout] failures of every kind count together, well formed or not', async () => {
    const [client, { username }] = [nextClient(), await basicUser()]
    const failures = [
      `Bearer pat_${'a'.repeat(8)}_${'b'.repeat(32)}`,
      `Bearer ${randomBytes(32).toString('base64url')}`,
      'Bearer nonsense',
      'Bearer',
      'nonsense',
      'Digest x',
      'Basic !!',
      basicValue('', 'x'),
      basicValue(username, 'wrong'),
      basicValue(username, 'wrong'),
    ]
    expect(await statuses(10, (index) => validateFrom(client, failures[index] ?? ''))).toEqual(times(10, 401))
    expectLocked(await failCheaply(client), 300)
  })

  test('[proxy-auth.lockout] is not refused when the proxy asks about a person it signed in', async () => {
    const client = nextClient()
    await lockOut(client)
    expect((await oauth(client)).status).toBe(200)
    expectLocked(await failCheaply(client), 300)
  })

  test('[proxy-auth.lockout-limits] does not lock out another client of the same proxy, nor the proxy itself', async () => {
    const [client, neighbor] = [nextClient(), nextClient()]
    await lockOut(client)
    expect((await failCheaply(neighbor)).status).toBe(401)
    expect((await oauth(neighbor)).status).toBe(200)
    const direct = await validate(service.url, 'Bearer nonsense', project.applicationId)
    expect(direct.status).toBe(401)
    expect((await failCheaply(client)).status).toBe(429)
  })

  test('[proxy-auth.lockout-limits] a valid token passes all the same and ends the lockout', async () => {
    for (const value of [token, machineToken]) {
      const client = nextClient()
      await lockOut(client)
      expect((await validateFrom(client, `Bearer ${value}`)).status).toBe(200)
      expect((await oauth(client)).status).toBe(200)
      await lockOut(client)
    }
  })

  test('[proxy-auth.lockout-limits] a right Basic password does not pass, and does from elsewhere', async () => {
    const [client, { username, password }] = [nextClient(), await basicUser()]
    await lockOut(client)
    expectLocked(await validateFrom(client, basicValue(username, password)), 300)
    expect((await validateFrom(nextClient(), basicValue(username, password))).status).toBe(200)
    expectLocked(await validateFrom(client, basicValue(username, password)), 300)
  })

  test('[proxy-auth.lockout-limits] a success clears the count', async () => {
    const { username, password } = await basicUser()
    for (const good of [`Bearer ${token}`, `Bearer ${machineToken}`, basicValue(username, password)]) {
      const client = nextClient()
      for (const _ of [1, 2, 3]) {
        expect(await statuses(9, () => failCheaply(client))).toEqual(times(9, 401))
        expect((await validateFrom(client, good)).status).toBe(200)
      }
    }
  })

  test('[proxy-auth.lockout] a signed-in person proves nothing, so asking about one clears nothing', async () => {
    const client = nextClient()
    await statuses(9, () => failCheaply(client))
    expect((await oauth(client)).status).toBe(200)
    expect(await statuses(2, () => failCheaply(client))).toEqual([401, 429])
  })

  test('[proxy-auth.lockout] is known by the hop next to the proxy; what it claims to forward changes nothing', async () => {
    const client = nextClient()
    const forged = (index: number) => failCheaply(`203.0.113.${index}, ${client}`)
    expect(await statuses(11, forged)).toEqual([...times(10, 401), 429])
    expect((await failCheaply('203.0.113.1')).status).toBe(401)
  })

  test('[proxy-auth.lockout-limits] nobody locks out others by X-Forwarded-For without the secret', async () => {
    const victim = nextClient()
    const body = { authorization_header: 'Bearer nonsense', application_id: project.applicationId }
    for (const secret of [{}, { 'x-proxy-auth': 'wrong' }] as Record<string, string>[])
      for (let i = 0; i < 12; i++) {
        const headers = { ...secret, 'x-forwarded-for': victim }
        const answer = await call(service.url, '/api/validate-proxy-auth', headers, body)
        expect([answer.status, Object.keys(answer.body)]).toEqual([401, ['error', 'code', 'request_id']])
      }
    await lockOut(victim)
  })
})

describe('malformed requests about a person', () => {
  test('[proxy-auth.lockout] lock the client out there after the tenth, the well-formed ones too', async () => {
    const client = nextClient()
    expect(await statuses(10, () => malformed(client))).toEqual(times(10, 400))
    expectLocked(await malformed(client), 300)
    expectLocked(await oauth(client), 300)
    expect((await oauth(nextClient())).status).toBe(200)
  })

  test('[proxy-auth.lockout] [proxy-auth.lockout-limits] lock out no credential, and a success clears their count', async () => {
    const client = nextClient()
    expect(await statuses(9, () => malformed(client))).toEqual(times(9, 400))
    expect((await oauth(client)).status).toBe(200)
    expect(await statuses(10, () => malformed(client))).toEqual(times(10, 400))
    expectLocked(await malformed(client), 300)
    expect((await validateFrom(client, `Bearer ${token}`)).status).toBe(200)
    expect((await failCheaply(client)).status).toBe(401)
    // A valid token does not clear the lockout, because other people behind the same address may still be
    // guessing.
    expectLocked(await oauth(client), 300)
  })

  test('[proxy-auth.lockout] count together in two processes', async () => {
    // Retry with a new client if Redis was too slow and each process counted separately.
    await vi.waitFor(async () => {
      const client = nextClient()
      expect(await untilLocked(9, (app) => malformed(client, app))).toBe(10)
      for (const app of [service, twin]) expect((await malformed(client, app)).status).toBe(429)
    }, 60_000)
  })
})

describe('guesses at one Basic user name', () => {
  test('[proxy-auth.lockout-basic] five from one client lock the pair for 15 minutes; other names go on until the limit of the client', async () => {
    const client = nextClient()
    const users = [await basicUser(), await basicUser(), await basicUser(), await basicUser()]
    const [a = '', b = '', c = '', d = ''] = users.map(({ username }) => username)
    expect(await statuses(5, () => guessPassword(client, a))).toEqual(times(5, 401))
    expectLocked(await guessPassword(client, a), 900)
    expectLocked(await guessPassword(client, a), 900)
    // Guesses that are refused without a check do not count against the client, so ten guesses are checked in total.
    expect(await statuses(3, () => guessPassword(client, b))).toEqual(times(3, 401))
    expect(await statuses(2, () => guessPassword(client, c))).toEqual(times(2, 401))
    expectLocked(await guessPassword(client, d), 300)
    expectLocked(await failCheaply(client), 300)
  })

  test('[proxy-auth.lockout-basic] spellings in another case or with outer spaces are one name', async () => {
    const [client, { username, password }] = [nextClient(), await basicUser()]
    const spellings = [
      username,
      username.toLowerCase(),
      username.toUpperCase(),
      ` ${username}`,
      `  ${username.toLowerCase()}  `,
    ]
    expect(await statuses(5, (index) => guessPassword(client, spellings[index] ?? ''))).toEqual(times(5, 401))
    for (const name of spellings) expectLocked(await guessPassword(client, name), 900)
    expectLocked(await validateFrom(client, basicValue(username, password)), 900)
  })

  test('[proxy-auth.lockout-basic] the right password is refused too while its pair is locked, even when it is known already', async () => {
    const [client, elsewhere, { username, password }] = [nextClient(), nextClient(), await basicUser()]
    const right = basicValue(username, password)
    // The password was accepted before, from this client and from a different client.
    for (const from of [client, elsewhere]) expect((await validateFrom(from, right)).status).toBe(200)
    expect(await statuses(6, () => guessPassword(client, username))).toEqual([...times(5, 401), 429])
    expectLocked(await validateFrom(client, right), 900)
    expect((await validateFrom(elsewhere, right)).status).toBe(200)
    expectLocked(await validateFrom(client, right), 900)
    // The tokens of this client are not affected.
    expect((await validateFrom(client, `Bearer ${machineToken}`)).status).toBe(200)
    expectLocked(await validateFrom(client, right), 900)
  })

  test('[proxy-auth.lockout-basic] [proxy-auth.lockout-limits] the right password clears the count of its pair', async () => {
    const [client, { username, password }] = [nextClient(), await basicUser()]
    expect(await statuses(4, () => guessPassword(client, username))).toEqual(times(4, 401))
    expect((await validateFrom(client, basicValue(username, password))).status).toBe(200)
    expect(await statuses(4, () => guessPassword(client, username))).toEqual(times(4, 401))
  })

  test('the right password clears the count of its pair when it is known already, too', async () => {
    const [client, { username, password }] = [nextClient(), await basicUser()]
    for (const _ of [1, 2, 3]) {
      expect((await validateFrom(client, basicValue(username, password))).status).toBe(200)
      expect(await statuses(4, () => guessPassword(client, username))).toEqual(times(4, 401))
    }
  })

  test('[proxy-auth.lockout-basic] a burst of the right password that nobody has seen yet is one guess, and right', async () => {
    const [client, { username, password }] = [nextClient(), await basicUser()]
    const burst = Array.from({ length: 20 }, () => validateFrom(client, basicValue(username, password)))
    expect((await Promise.all(burst)).map(({ status }) => status)).toEqual(times(20, 200))
  })

  test('[proxy-auth.lockout-basic] of twenty at once five are tried', async () => {
    expect([401, 429, 503]).toEqual(expect.arrayContaining(await expectFiveTried()))
  })
})

describe('two processes', () => {
  test('[proxy-auth.lockout-limits] a success in one ends the lockout in the other, for Basic and for people too', async () => {
    const [client, { username, password }] = [nextClient(), await basicUser()]
    const statusOfBasic = async () => (await validateFrom(client, basicValue(username, password))).status
    expect((await statuses(11, () => failCheaply(client))).at(-1)).toBe(429)
    expect(await statusOfBasic()).toBe(429)
    expect((await validateFrom(client, `Bearer ${token}`, twin)).status).toBe(200)
    await expect.poll(statusOfBasic).toBe(200)
  })

  test('[proxy-auth.lockout] [proxy-auth.lockout-basic] count together, and a lockout holds in both', async () => {
    // Retry with a new client if Redis was too slow and each process counted separately.
    await vi.waitFor(async () => {
      const [client, guesser, { username, password }] = [nextClient(), nextClient(), await basicUser()]
      expect(await untilLocked(9, (app) => failCheaply(client, app))).toBe(10)
      expect(await untilLocked(4, (app) => guessPassword(guesser, username, app))).toBe(5)
      for (const app of [service, twin]) {
        expect((await failCheaply(client, app)).status).toBe(429)
        expect((await validateFrom(guesser, basicValue(username, password), app)).status).toBe(429)
      }
    }, 60_000)
  })

  test('[proxy-auth.lockout-basic] a password that another client made known does not help where the lockout is not known yet', async () => {
    await vi.waitFor(async () => {
      const [client, elsewhere, { username, password }] = [nextClient(), nextClient(), await basicUser()]
      expect((await validateFrom(elsewhere, basicValue(username, password), twin)).status).toBe(200)
      expect(await statuses(6, () => guessPassword(client, username))).toEqual([...times(5, 401), 429])
      expectLocked(await validateFrom(client, basicValue(username, password), twin), 900)
      expect((await validateFrom(elsewhere, basicValue(username, password), twin)).status).toBe(200)
    }, 60_000)
  })
})

describe('other limits', () => {
  const windowMs = 300_000
  /** A process with different limits. Redis has its own clock; without Redis, the test controls the time. */
  let other: TestApp
  let now = Date.now()
  beforeAll(async () => {
    other = await startTestApp({
      database: service.database,
      world: { clock: { now: () => new Date(now) } },
      env: {
        SVC_REDIS_URL: 'redis://127.0.0.1:1',
        SVC_THROTTLES_VALIDATE_FAILURES: '3',
        SVC_THROTTLES_VALIDATE_BLOCK_MS: '2000',
        SVC_THROTTLES_BASIC_FAILURES: '2',
        SVC_THROTTLES_BASIC_BLOCK_MS: '2000',
        SVC_THROTTLES_BASIC_WINDOW_MS: String(windowMs),
        SVC_THROTTLES_MACHINE_FAILURES: '2',
        SVC_THROTTLES_MACHINE_BLOCK_MS: '7000',
        SVC_THROTTLES_MACHINE_WINDOW_MS: String(windowMs),
      },
    })
  })
  afterAll(() => other.close())
  const waitOf = ({ status, headers }: JsonAnswer) => [status, headers.get('retry-after')]

  test('[proxy-auth.thresholds] [proxy-auth.lockout] a lockout ends after its configured time, and the count begins anew', async () => {
    const client = nextClient()
    for (const _ of [1, 2]) {
      // The second lockout is not longer than the first one.
      expect(await statuses(4, () => failCheaply(client, other))).toEqual([401, 401, 401, 429])
      expect(waitOf(await failCheaply(client, other))).toEqual([429, '2'])
      now += 1_999
      expect(waitOf(await failCheaply(client, other))).toEqual([429, '1'])
      now += 1
    }
  })

  test('[proxy-auth.thresholds] [proxy-auth.lockout-basic] the same holds for a pair', async () => {
    const [client, { username, password }] = [nextClient(), await basicUser()]
    expect(await statuses(3, () => guessPassword(client, username, other))).toEqual([401, 401, 429])
    const right = () => validateFrom(client, basicValue(username, password), other)
    now += 1_999
    expect((await right()).status).toBe(429)
    now += 1
    expect((await right()).status).toBe(200)
  })

  test('[proxy-auth.thresholds] failures that lie further apart than the window do not add up', async () => {
    const [client, guesser, { username }] = [nextClient(), nextClient(), await basicUser()]
    for (const _ of [1, 2, 3]) {
      expect(await statuses(2, () => failCheaply(client, other))).toEqual([401, 401])
      expect((await guessPassword(guesser, username, other)).status).toBe(401)
      now += windowMs
    }
  })

  test('[proxy-auth.thresholds] those of machine routes are configured apart', async () => {
    const client = nextClient()
    const knock = () => failMachine(other, client)
    for (const _ of [1, 2, 3]) {
      expect((await knock()).status).toBe(401)
      now += windowMs
    }
    expect(await statuses(2, knock)).toEqual([401, 401])
    expect(waitOf(await knock())).toEqual([429, '7'])
    expect((await failCheaply(client, other)).status).toBe(401)
  })
})
