// Requests with wrong tokens of machine users, and the replicas that count them.
import { randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import { type TestApp, type TestAppOptions, startTestApp } from './app.ts'
import { type JsonAnswer, bearer, call, statuses, throughProxy } from './credentials.ts'

export const machinePath = '/api/machine/nothing'
export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export const wrong = (): Record<string, string> => bearer(randomBytes(32).toString('base64url'))
/** One request with a wrong token, as the proxy forwards it for this client. */
export const fail = (app: TestApp, client: string, path = machinePath): Promise<JsonAnswer> =>
  call(app.url, path, { ...throughProxy(client), ...wrong() })
export const refused = (count: number): number[] => Array.from({ length: count }, () => 401)
export const block = async (app: TestApp, client: string): Promise<void> =>
  expect(await statuses(11, () => fail(app, client))).toEqual([...refused(10), 429])

/** Replicas of the service are added to `others`, which who calls closes; `good` is a token that holds. */
export function machineReplicas(scene: () => { service: TestApp; good: string; others: TestApp[] }) {
  const succeed = (app: TestApp, client: string): Promise<JsonAnswer> =>
    call(app.url, machinePath, { ...throughProxy(client), ...bearer(scene().good) })
  /** Another replica on the same database. */
  async function startReplica(options: TestAppOptions = {}): Promise<TestApp> {
    const { service, others } = scene()
    const app = await startTestApp({ ...options, database: service.database })
    others.push(app)
    return app
  }
  return { succeed, startReplica }
}

/** Until the first answer of Redis a replica counts for itself. */
export async function redisAnswers(app: TestApp, timeoutMs: number): Promise<void> {
  const isUp = () => app.world.redis.isUp()
  for (let tries = 0; tries < timeoutMs / 10 && !isUp(); tries++) await pause(10)
  expect(isUp()).toBe(true)
}
