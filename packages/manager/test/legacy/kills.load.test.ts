// An import that is killed at any instant goes on where it was, and comes to what an uninterrupted one comes to.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testEnv } from '../kit/app.ts'
import { type TestDatabase, createScratchDatabase } from '../kit/databases.ts'
import { runManager } from '../kit/process.ts'
import { dump, repeatedAuditRows } from './dump.ts'
import { importArguments, runImport } from './imported.ts'
import { storeInstall } from './old-database.ts'
import type { OldInstall } from './old-rows.ts'
import { type Random, createRandom } from './random.ts'
import { randomInstall } from './random-install.ts'

const kills = Number(process.env['LEGACY_KILLS'] ?? 8)
const command = new URL('../../src/commands/manager.ts', import.meta.url).pathname
const sizes = { projects: 6, tenants: 40, applications: 12, people: 30 }
const install: OldInstall = randomInstall({ seed: 77, sizes })
const scene = {} as {
  old: TestDatabase
  wanted: string
  /** Of an uninterrupted import: how many rows its ledger has, and when it got the first and the last. */
  rows: number
  firstMs: number
  lastMs: number
}

beforeAll(async () => {
  scene.old = await storeInstall(install)
  const database = await createScratchDatabase()
  const started = Date.now()
  const progress: { ms: number; rows: number }[] = []
  const timer = setInterval(() => {
    const ms = Date.now() - started
    void ledgerRows(database).then((rows) => progress.push({ ms, rows }))
  }, 50)
  const result = await runImport(database, scene.old.url, install.types)
  clearInterval(timer)
  expect(result).toMatchObject({ code: 0 })
  scene.rows = await ledgerRows(database)
  scene.firstMs = progress.findLast(({ rows }) => rows === 0)?.ms ?? 0
  scene.lastMs = progress.find(({ rows }) => rows === scene.rows)?.ms ?? Date.now() - started
  scene.wanted = await dump(database.url)
  await database.drop()
})
afterAll(() => scene.old.drop())

async function ledgerRows(database: TestDatabase): Promise<number> {
  const client = new Client({ connectionString: database.url })
  await client.connect()
  const { rows } = await client.query<{ count: number }>('select count(*)::int from legacy_rows')
  await client.end()
  return rows[0]?.count ?? 0
}

/** Starts an import and kills it so many milliseconds later, unless it has ended. */
async function killedImport(database: TestDatabase, afterMs: number): Promise<void> {
  const args = importArguments(scene.old.url, install.types)
  const child = spawn(process.execPath, [command, ...args], {
    env: { PATH: process.env['PATH'], ...testEnv(database.url) } as NodeJS.ProcessEnv,
    stdio: 'ignore',
  })
  const exit = once(child, 'exit')
  const timer = setTimeout(() => child.kill('SIGKILL'), afterMs)
  await exit
  clearTimeout(timer)
}

/** Kills imports into a new database at random instants, ends with one that is not; how many rows each kill had left. */
async function interruptedImport(database: TestDatabase, random: Random): Promise<number[]> {
  const left: number[] = []
  for (let runs = random.int(1, 3); runs > 0; runs--) {
    await killedImport(database, random.int(scene.firstMs, scene.lastMs))
    left.push(await ledgerRows(database))
  }
  expect(await runImport(database, scene.old.url, install.types)).toMatchObject({ code: 0 })
  return left.filter((rows) => rows > 0 && rows < scene.rows)
}

describe('an import', () => {
  test(
    `that is killed ${kills} times in its midst comes to the same end`,
    { timeout: kills * 240_000 },
    async () => {
      const random = createRandom(Number(process.env['LEGACY_SEED'] ?? 1))
      const left: number[] = []
      const different: string[] = []
      for (let rounds = 0; left.length < kills && rounds < 5 * kills; rounds++) {
        const database = await createScratchDatabase()
        left.push(...(await interruptedImport(database, random)))
        const repeated = await repeatedAuditRows(database.url)
        const verified = await runManager(['audit', 'verify'], testEnv(database.url))
        if ((await dump(database.url)) !== scene.wanted) different.push(`round ${rounds}: other rows`)
        if (repeated.length > 0) different.push(`round ${rounds}: audited twice: ${repeated.join()}`)
        if (verified.code !== 0) different.push(`round ${rounds}: ${verified.stdout}${verified.stderr}`)
        await database.drop()
      }
      process.stdout.write(`killed when ${left.join(', ')} of ${scene.rows} rows were written\n`)
      expect(different).toEqual([])
      expect(left.length).toBeGreaterThanOrEqual(kills)
    },
  )

  test('waits for another one, and both end well', { timeout: 300_000 }, async () => {
    const database = await createScratchDatabase()
    const both = await Promise.all([1, 2].map(() => runImport(database, scene.old.url, install.types)))
    expect(both.map(({ code }) => code)).toEqual([0, 0])
    expect(await dump(database.url)).toBe(scene.wanted)
    expect(await repeatedAuditRows(database.url)).toEqual([])
    await database.drop()
  })
})
