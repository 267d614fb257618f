// Creates tokens that were never issued, and a service that receives many such tokens.
import { createSecretKey, hkdfSync, randomInt } from 'node:crypto'
import { Pool } from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { buildToken, createRandomText } from '../../src/features/access-tokens/token.pure.ts'
import { type Person, headersOf, masterKey } from '@manager/harness/callers.ts'
import { createToken, throughProxy } from '@manager/harness/credentials.ts'
import { createScratchDatabase } from './databases.ts'
import type { Flood } from './flood.ts'
import { postQuery } from '@manager/harness/graphql.ts'
import { type ServiceProcess, startProcess } from '@manager/harness/process.ts'
import { seedUser } from '@manager/harness/seed.ts'

export const queueSize = 4
// Only the owner of the master key can compute a valid checksum for a token that was never issued.
const checkKey = createSecretKey(
  Buffer.from(
    hkdfSync('sha256', Buffer.from(masterKey, 'base64'), Buffer.alloc(0), 'svc:access-token-check', 32),
  ),
)
export const many = (count: number, make: () => string): string[] => Array.from({ length: count }, make)

/**
 * Starts a service with one hashing thread before the tests of a file. The fields of the returned object are
 * set before the first test.
 */
export function useForgedTokens() {
  const scene = {} as { service: ServiceProcess; token: string; prefix: string }
  let drop: () => Promise<void>
  beforeAll(async () => {
    const database = await createScratchDatabase()
    drop = () => database.drop()
    const env = { SVC_CREDENTIALS_KDF_THREADS: '1', SVC_CREDENTIALS_KDF_MAX_QUEUE: String(queueSize) }
    scene.service = await startProcess(database.url, env)
    const sql = new Pool({ connectionString: database.url, max: 1 })
    const person = await seedUser(sql, 'person')
    await sql.end()
    const query = (who: Person, text: string, variables?: Record<string, unknown>) =>
      postQuery(scene.service.url, headersOf(who), text, variables)
    const { token, tokenPrefix } = await createToken({ query }, person)
    Object.assign(scene, { token, prefix: tokenPrefix })
  })
  afterAll(async () => {
    scene.service.child.kill('SIGTERM')
    await scene.service.exit
    await drop()
  })
  return {
    scene,
    metric: async (name: string): Promise<number> => {
      const text = await (await fetch(`${scene.service.healthUrl}/metrics`)).text()
      return Number(new RegExp(`^${name} (\\d+)`, 'm').exec(text)?.[1] ?? Number.NaN)
    },
    withBadCheck: (): string => `Bearer pat_${scene.prefix}_${createRandomText(32, randomInt)}`,
    withWrongTail: (): string =>
      `Bearer ${buildToken(scene.prefix, createRandomText(26, randomInt), checkKey)}`,
    onQuery: (authorizations: string[], perSecond: number, seconds: number): Flood => ({
      url: `${scene.service.url}/query`,
      headers: throughProxy('203.0.113.66'),
      body: '{"query":"{ me { id } }"}',
      authorizations,
      perSecond,
      seconds,
    }),
  }
}
