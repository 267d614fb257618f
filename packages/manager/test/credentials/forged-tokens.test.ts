// Tokens that were never issued, at a rate that would stop a service that hashes each of them.
import { createSecretKey, hkdfSync, randomInt } from 'node:crypto'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildToken, randomText } from '../../src/features/access-tokens/token.ts'
import { type Person, headersOf, masterKey } from '../kit/app.ts'
import { createToken, throughProxy } from '../kit/credentials.ts'
import { type TestDatabase, createScratchDatabase } from '../kit/databases.ts'
import { type Flood, startFlood } from '../kit/flood.ts'
import { postQuery } from '../kit/graphql.ts'
import { type ServiceProcess, startProcess } from '../kit/process.ts'
import { seedUser } from '../kit/seed.ts'

let database: TestDatabase
let service: ServiceProcess
let token: string
let prefix: string
const queueSize = 4

beforeAll(async () => {
  database = await createScratchDatabase()
  const env = { SVC_CREDENTIALS_KDF_THREADS: '1', SVC_CREDENTIALS_KDF_MAX_QUEUE: String(queueSize) }
  service = await startProcess(database.url, env)
  const sql = new Pool({ connectionString: database.url, max: 1 })
  const person = await seedUser(sql, 'person')
  await sql.end()
  const query = (who: Person, text: string, variables?: Record<string, unknown>) =>
    postQuery(service.url, headersOf(who), text, variables)
  const created = await createToken({ query }, person)
  token = created.token
  prefix = created.tokenPrefix
})
afterAll(async () => {
  service.child.kill('SIGTERM')
  await service.exit
  await database.drop()
})

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${service.healthUrl}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\d+)`, 'm').exec(text)?.[1] ?? Number.NaN)
}

// What only the holder of the master key can do: the right check for a tail that was never issued.
const checkKey = createSecretKey(
  Buffer.from(
    hkdfSync('sha256', Buffer.from(masterKey, 'base64'), Buffer.alloc(0), 'svc:access-token-check', 32),
  ),
)
const withBadCheck = (): string => `Bearer pat_${prefix}_${randomText(32, randomInt)}`
const withWrongTail = (): string => `Bearer ${buildToken(prefix, randomText(26, randomInt), checkKey)}`
const many = (count: number, make: () => string): string[] => Array.from({ length: count }, make)

const onQuery = (authorizations: string[], perSecond: number, seconds: number): Flood => ({
  url: `${service.url}/query`,
  headers: throughProxy('203.0.113.66'),
  body: '{"query":"{ me { id } }"}',
  authorizations,
  perSecond,
  seconds,
})

describe('forged tokens', () => {
  test(
    '[access-tokens.keyed-check] 2,000 a second with a bad check cause no run of the KDF',
    { timeout: 60_000 },
    async () => {
      const before = await metric('svc_auth_kdf_runs_total')
      const { statuses } = await startFlood(onQuery(many(5_000, withBadCheck), 2_000, 4))
      expect(Object.keys(statuses)).toEqual(['401'])
      expect(statuses['401']).toBeGreaterThan(7_000)
      expect((await metric('svc_auth_kdf_runs_total')) - before).toBe(0)
    },
  )

  test(
    '[access-tokens.bounded-kdf] a flood with a right check keeps within the pool and is told when to come back; the others hardly notice',
    { timeout: 120_000 },
    async () => {
      const normal = (seconds: number) => startFlood(onQuery([`Bearer ${token}`], 200, seconds))
      await normal(2)
      const ratios: number[] = []
      for (let round = 0; round < 5; round++) {
        const quiet = await normal(3)
        const runsBefore = await metric('svc_auth_kdf_runs_total')
        const flood = startFlood(onQuery(many(4_000, withWrongTail), 1_000, 4))
        await new Promise((resolve) => setTimeout(resolve, 300))
        const busy = await normal(3)
        const { statuses, withoutRetryAfter } = await flood
        const runs = (await metric('svc_auth_kdf_runs_total')) - runsBefore
        ratios.push(busy.p99Ms / quiet.p99Ms)
        process.stdout.write(
          `forged with a right check: p99 quiet=${quiet.p99Ms.toFixed(1)} flooded=${busy.p99Ms.toFixed(1)} ms, kdf_runs=${runs}, answers ${JSON.stringify(statuses)}\n`,
        )
        expect(busy.statuses).toEqual({ 200: expect.any(Number) })
        expect(Object.keys(statuses).toSorted()).toEqual(['401', '503'])
        expect(withoutRetryAfter).toBe(0)
        // One thread does about seven a second; what waits is bounded by the queue.
        expect(runs).toBeLessThanOrEqual(4 * 15 + queueSize + 1)
        expect(statuses['401']).toBeLessThanOrEqual(runs)
      }
      // The best of the rounds: other tests share the machine's two cores.
      expect(Math.min(...ratios)).toBeLessThanOrEqual(1.3)
    },
  )
})
