// Sends requests with wrong machine tokens, and starts the replicas that count them.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect } from 'vitest'
import { type TestApp, type TestAppOptions, dropReferences, startTestApp } from './app.ts'
import { type JsonAnswer, bearer, call, statuses, throughProxy } from '@manager/harness/credentials.ts'
import { seedMachineUser, seedProject } from '@manager/harness/seed.ts'

export const machinePath = '/api/machine/nothing'
export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export const wrong = (): Record<string, string> => bearer(randomBytes(32).toString('base64url'))
/** Sends a request with a wrong token through the proxy, from this client address. */
export const fail = (app: TestApp, client: string, path = machinePath): Promise<JsonAnswer> =>
  call(app.url, path, { ...throughProxy(client), ...wrong() })
export const refused = (count: number): number[] => Array.from({ length: count }, () => 401)
export const block = async (app: TestApp, client: string): Promise<void> =>
  expect(await statuses(11, () => fail(app, client))).toEqual([...refused(10), 429])

/**
 * Starts a service with a machine user before the tests of a file, and waits up to `timeoutMs` for Redis. Closes the
 * service and its replicas after the tests. `service` and `good()` can be used from the first test on.
 */
export function useMachineService(timeoutMs: number) {
  const service = {} as TestApp
  const started: TestApp[] = []
  let token: string
  beforeAll(async () => {
    const app = await startTestApp()
    started.push(app)
    Object.assign(service, app)
    token = (await seedMachineUser(app.sql, await seedProject(app.sql, 'main'))).token
    await waitForRedis(app, timeoutMs)
  })
  afterAll(async () => {
    // Closes the replicas first, because the service owns their database.
    for (const app of started.toReversed()) await app.close()
    dropReferences(service)
  })
  const good = (): string => token
  const succeed = (app: TestApp, client: string): Promise<JsonAnswer> =>
    call(app.url, machinePath, { ...throughProxy(client), ...bearer(good()) })
  /** Starts another replica on the same database. */
  async function startReplica(options: TestAppOptions = {}): Promise<TestApp> {
    const app = await startTestApp({ ...options, database: service.database })
    started.push(app)
    return app
  }
  return { service, good, succeed, startReplica }
}

/** Waits until Redis responds. Before that, a replica counts locally. */
export async function waitForRedis(app: TestApp, timeoutMs: number): Promise<void> {
  const isUp = () => app.world.redis.isUp()
  for (let tries = 0; tries < timeoutMs / 10 && !isUp(); tries++) await pause(10)
  expect(isUp()).toBe(true)
}
