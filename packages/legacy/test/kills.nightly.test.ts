// Tests that an import can be killed at any time: the next import resumes where it stopped and produces the same
// result as an uninterrupted import.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testEnv } from '@manager/harness/test-env.ts'
import { type TestDatabase, createScratchDatabase } from '../../manager/test/kit/databases.ts'
import { runManager } from '../../manager/test/kit/commands.ts'
import { dump, repeatedAuditRows } from './dump.ts'
import { importArguments, runImport } from './imported.ts'
import { program } from './run-legacy.ts'
import { storeInstall } from './old-database.ts'
import type { OldInstall } from './old-rows.ts'
import { type Random, createRandom } from '@manager/harness/random.ts'
import { randomInstall } from './random-install.ts'

const kills = Number(process.env['LEGACY_KILLS'] ?? 3)
const sizes = { projects: 6, tenants: 40, applications: 12, people: 30 }
const install: OldInstall = randomInstall({ seed: 77, sizes })
const scene = {} as {
  old: TestDatabase
  wanted: string
  /** The number of ledger rows after an uninterrupted import. */
  rows: number
}
const importInto = (database: TestDatabase) =>
  runImport(database, scene.old.url, install.types, ['--no-check'])

beforeAll(async () => {
  scene.old = await storeInstall(install)
  const database = await createScratchDatabase()
  expect(await importInto(database)).toMatchObject({ code: 0 })
  const client = await connect(database)
  scene.rows = await ledgerRows(client)
  await client.end()
  scene.wanted = await dump(database.url)
  await database.drop()
})
afterAll(() => scene.old.drop())

async function connect(database: TestDatabase): Promise<Client> {
  const client = new Client({ connectionString: database.url })
  await client.connect()
  return client
}

async function ledgerRows(client: Client): Promise<number> {
  const { rows } = await client.query<{ count: number }>('select count(*)::int from legacy_rows')
  return rows[0]?.count ?? 0
}

/** Starts an import, and kills it `delayMs` after it has written `atRows` rows. Returns the number of written rows. */
async function killedImport(database: TestDatabase, atRows: number, delayMs: number): Promise<number> {
  const child = spawn(
    process.execPath,
    [program, ...importArguments(scene.old.url, install.types, ['--no-check'])],
    { env: { PATH: process.env['PATH'], ...testEnv(database.url) }, stdio: 'ignore' },
  )
  const exit = once(child, 'exit')
  const client = await connect(database)
  while (child.exitCode === null && (await ledgerRows(client)) < atRows) await wait(2)
  await wait(delayMs)
  child.kill('SIGKILL')
  await exit
  const left = await ledgerRows(client)
  await client.end()
  return left
}

/**
 * Kills imports into a new database, then completes one. Returns the number of rows that each killed import
 * had written.
 */
async function interruptedImport(database: TestDatabase, random: Random): Promise<number[]> {
  const left: number[] = []
  let rows = 0
  for (let runs = random.int(1, 3); runs > 0 && rows < scene.rows; runs--) {
    rows = await killedImport(database, random.int(rows, scene.rows - 1), random.int(0, 60))
    left.push(rows)
  }
  expect(await importInto(database)).toMatchObject({ code: 0 })
  return left.filter((count) => count < scene.rows)
}

describe('an import', () => {
  test(
    `that is killed ${kills} times in its midst comes to the same end`,
    { timeout: kills * 120_000 },
    async () => {
      const random = createRandom(Number(process.env['LEGACY_SEED'] ?? 1))
      const left: number[] = []
      const different: string[] = []
      for (let rounds = 0; left.length < kills && rounds < 3 * kills; rounds++) {
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
    const both = await Promise.all([1, 2].map(() => importInto(database)))
    expect(both.map(({ code }) => code)).toEqual([0, 0])
    expect(await dump(database.url)).toBe(scene.wanted)
    expect(await repeatedAuditRows(database.url)).toEqual([])
    await database.drop()
  })
})
