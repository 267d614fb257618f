// Uses personal access tokens, and determines which user each token represents.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { expect } from 'vitest'
import type { World } from '../../src/world.ts'
import type { Person } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from './app.ts'
import { bearer, createToken, throughProxy } from '@manager/harness/credentials.ts'
import { postQuery } from '@manager/harness/graphql.ts'
import { seedUser } from '@manager/harness/seed.ts'

export const userRoutes = ['/pilets/x', '/api/audit/x', '/api/access/x']
export type Token = Awaited<ReturnType<typeof createToken>>

/** Adds routes like those that later features may add. They return the id of the caller. */
export function extend(server: FastifyInstance): void {
  const answer = (request: FastifyRequest) => ({ id: request.actor?.user.id })
  const can = { do: 'USER_WRITE', on: [], in: 'SYSTEM' } as const
  for (const path of userRoutes) server.get(path, { config: { policy: { user: 'a test' } } }, answer)
  server.get('/api/audit/closed', { config: { policy: { can } } }, answer)
}

/** Returns the headers of a request with a token that the proxy forwards. */
export const tokenHeaders = (token: string) => ({ ...throughProxy(), ...bearer(token) })
export const ask = (app: TestApp, headers: Record<string, string>, text = '{ me { id } }', variables = {}) =>
  postQuery(app.url, { ...throughProxy(), ...headers }, text, variables)
/** Returns the id of the user that a token represents on /query, or the status if the token is rejected. */
export async function userOf(app: TestApp, token: string): Promise<string | number> {
  const { status, data } = await ask(app, bearer(token))
  return status === 200 ? (data.me.id as string) : status
}
export const kdfRuns = async (app: TestApp) =>
  (await app.world.metrics.authKdfRuns.get()).values[0]?.value ?? 0

/** Returns functions that start replicas of a service, and that read when ann's tokens were last used. */
export function tokenUse(scene: () => { service: TestApp; ann: Person }) {
  const startReplica = (env: Record<string, string> = {}, world: Partial<World> = {}): Promise<TestApp> =>
    startTestApp({
      database: scene().service.database,
      transport: { extend, loopDelayMs: () => 0 },
      env,
      world,
    })
  const lastUsedAt = async (id: string): Promise<string | null> => {
    const { service, ann } = scene()
    const text = `{ rows: myPersonalAccessTokens(filters: {field: "id", value: "${id}"}) { lastUsedAt } }`
    const { data } = await service.query(ann, text)
    expect(data.rows).toHaveLength(1)
    return data.rows[0].lastUsedAt as string | null
  }
  return { startReplica, lastUsedAt }
}

/** Creates two users. ann has one token that no test revokes, and one that is used only once, before the tests. */
export async function seedTokenUsers(service: TestApp) {
  const [ann, ben] = [await seedUser(service.sql, 'ann'), await seedUser(service.sql, 'ben')]
  const [lasting, early] = [await createToken(service, ann), await createToken(service, ann)]
  const { lastUsedAt } = tokenUse(() => ({ service, ann }))
  expect(await lastUsedAt(early.id)).toBeNull()
  const earlyUse = Date.now()
  expect(await userOf(service, early.token)).toBe(ann.id)
  return { ann, ben, lasting, early, earlyUse }
}
