// Tests in real time how failed validations lock out a client.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { type JsonAnswer, basicValue, statuses } from '@manager/harness/credentials.ts'
import { failedValidations } from '../kit/failed-validations.ts'
import { type SeededProject, seedProject } from '@manager/harness/seed.ts'
import { fail as failMachine } from '../kit/wrong-machine-tokens.ts'

const quickLimits = {
  SVC_THROTTLES_VALIDATE_FAILURES: '3',
  SVC_THROTTLES_VALIDATE_BLOCK_MS: '2000',
  SVC_THROTTLES_BASIC_FAILURES: '2',
  SVC_THROTTLES_BASIC_BLOCK_MS: '2000',
  SVC_THROTTLES_MACHINE_FAILURES: '2',
  SVC_THROTTLES_MACHINE_BLOCK_MS: '7000',
}
const windowMs = 300
const briefWindows = {
  SVC_THROTTLES_VALIDATE_WINDOW_MS: String(windowMs),
  SVC_THROTTLES_BASIC_WINDOW_MS: String(windowMs),
  SVC_THROTTLES_MACHINE_WINDOW_MS: String(windowMs),
}

/** On a busy machine, load shedding must not replace the responses of the throttle. */
const transport = { loopDelayMs: () => 0 }

let service: TestApp
/** A process that locks out clients after a few failures and for a short time. */
let quick: TestApp
/** A process like `quick` that also counts failures within short windows. */
let brief: TestApp
let project: SeededProject

beforeAll(async () => {
  service = await startTestApp({ transport })
  quick = await startTestApp({ transport, database: service.database, env: quickLimits })
  brief = await startTestApp({
    transport,
    database: service.database,
    env: { ...quickLimits, ...briefWindows },
  })
  project = await seedProject(service.sql, 'main')
  await vi.waitUntil(() => [service, quick, brief].every((app) => app.world.redis.isUp()), {
    timeout: 60_000,
  })
})
afterAll(async () => {
  await brief.close()
  await quick.close()
  await service.close()
})

const { nextClient, basicUser, validateFrom, failCheaply, guessPassword } = failedValidations(() => ({
  service,
  project,
}))

describe('other limits', () => {
  const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
  /** Retries until the response is no longer 429. Throws if the lockout does not end. */
  async function untilFree(send: () => Promise<JsonAnswer>): Promise<number> {
    for (let tries = 0; tries < 200; tries++) {
      const { status } = await send()
      if (status !== 429) return status
      await sleep(50)
    }
    throw new Error('the lockout does not end')
  }

  test('[proxy-auth.thresholds] [proxy-auth.lockout] a lockout ends after its configured time, and the count begins anew', async () => {
    const [client, start] = [nextClient(), performance.now()]
    expect(await statuses(4, () => failCheaply(client, quick))).toEqual([401, 401, 401, 429])
    const locked = await failCheaply(client, quick)
    expect([locked.status, locked.headers.get('retry-after')]).toEqual([429, expect.stringMatching(/^[12]$/)])
    expect(await untilFree(() => failCheaply(client, quick))).toBe(401)
    expect(performance.now() - start).toBeGreaterThan(1_950)
    expect(await statuses(3, () => failCheaply(client, quick))).toEqual([401, 401, 429])
    // The second lockout is not longer than the first one.
    expect((await failCheaply(client, quick)).headers.get('retry-after')).toMatch(/^[12]$/)
  })

  test('[proxy-auth.thresholds] [proxy-auth.lockout-basic] the same holds for a pair', async () => {
    const { username, password } = await basicUser()
    const [client, start] = [nextClient(), performance.now()]
    expect(await statuses(3, () => guessPassword(client, username, quick))).toEqual([401, 401, 429])
    const right = () => validateFrom(client, basicValue(username, password), quick)
    expect((await right()).status).toBe(429)
    expect(await untilFree(right)).toBe(200)
    expect(performance.now() - start).toBeGreaterThan(1_950)
  })

  test('[proxy-auth.thresholds] failures that lie further apart than the window do not add up', async () => {
    const [client, guesser, { username }] = [nextClient(), nextClient(), await basicUser()]
    for (const _ of [1, 2, 3]) {
      expect(await statuses(2, () => failCheaply(client, brief))).toEqual([401, 401])
      expect((await guessPassword(guesser, username, brief)).status).toBe(401)
      await sleep(windowMs + 20)
    }
  })

  test('[proxy-auth.thresholds] those of machine routes are configured apart', async () => {
    const client = nextClient()
    const knock = (app: TestApp) => failMachine(app, client)
    for (const _ of [1, 2, 3]) {
      expect((await knock(brief)).status).toBe(401)
      await sleep(windowMs + 20)
    }
    expect(await statuses(2, () => knock(quick))).toEqual([401, 401])
    const locked = await knock(quick)
    expect([locked.status, locked.headers.get('retry-after')]).toEqual([429, expect.stringMatching(/^[67]$/)])
    expect((await failCheaply(client, quick)).status).toBe(401)
  })
})
