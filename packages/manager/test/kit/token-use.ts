// Personal access tokens in use, and whom they act as.
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

/** Routes like those of later features; they answer who is calling. */
export function extend(server: FastifyInstance): void {
  const answer = (request: FastifyRequest) => ({ id: request.actor?.user.id })
  const can = { do: 'USER_WRITE', on: [], in: 'SYSTEM' } as const
  for (const path of userRoutes) server.get(path, { config: { policy: { user: 'a test' } } }, answer)
  server.get('/api/audit/closed', { config: { policy: { can } } }, answer)
}

/** The headers of a request with a token that came through the proxy. */
export const using = (token: string) => ({ ...throughProxy(), ...bearer(token) })
export const ask = (app: TestApp, headers: Record<string, string>, text = '{ me { id } }', variables = {}) =>
  postQuery(app.url, { ...throughProxy(), ...headers }, text, variables)
/** The id of the user a token acts as on /query, or the status that refuses it. */
export async function whoIs(app: TestApp, token: string): Promise<string | number> {
  const { status, data } = await ask(app, bearer(token))
  return status === 200 ? (data.me.id as string) : status
}
export const kdfRuns = async (app: TestApp) =>
  (await app.world.metrics.authKdfRuns.get()).values[0]?.value ?? 0

/** Replicas of a service, and the tokens of ann as she reads them. */
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

/** Two people; of ann, a token that no test ends and one that is used once, before the tests. */
export async function seedTokenUsers(service: TestApp) {
  const [ann, ben] = [await seedUser(service.sql, 'ann'), await seedUser(service.sql, 'ben')]
  const [lasting, early] = [await createToken(service, ann), await createToken(service, ann)]
  const { lastUsedAt } = tokenUse(() => ({ service, ann }))
  expect(await lastUsedAt(early.id)).toBeNull()
  const earlyUse = Date.now()
  expect(await whoIs(service, early.token)).toBe(ann.id)
  return { ann, ben, lasting, early, earlyUse }
}
