// An import that is killed at any instant goes on where it was, and comes to what an uninterrupted one comes to.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testEnv } from '../kit/app.ts'
import { type TestDatabase, createScratchDatabase } from '../kit/databases.ts'
import { runManager } from '../kit/process.ts'
import { dump, repeatedAuditRows } from './dump.ts'
import { importArguments, runImport } from './imported.ts'
import { storeInstall } from './old-database.ts'
import type { OldInstall } from './old-rows.ts'
import { createRandom } from './random.ts'
import { randomInstall } from './random-install.ts'

const kills = Number(process.env['LEGACY_KILLS'] ?? 8)
const command = new URL('../../src/commands/manager.ts', import.meta.url).pathname
const sizes = { projects: 6, tenants: 40, applications: 12, people: 30 }
const install: OldInstall = randomInstall({ seed: 77, sizes })
const scene = {} as { old: TestDatabase; wanted: string; wholeMs: number }

beforeAll(async () => {
  scene.old = await storeInstall(install)
  const database = await createScratchDatabase()
  const started = Date.now()
  const result = await runImport(database, scene.old.url, install.types)
  scene.wholeMs = Date.now() - started
  expect(result).toMatchObject({ code: 0 })
  scene.wanted = await dump(database.url)
  await database.drop()
})
afterAll(() => scene.old.drop())

/** Starts an import and kills it so many milliseconds later, unless it has ended. */
async function killedImport(database: TestDatabase, afterMs: number): Promise<'ended' | 'killed'> {
  const args = importArguments(scene.old.url, install.types)
  const child = spawn(process.execPath, [command, ...args], {
    env: { PATH: process.env['PATH'], ...testEnv(database.url) } as NodeJS.ProcessEnv,
    stdio: 'ignore',
  })
  const exit = once(child, 'exit')
  const timer = setTimeout(() => child.kill('SIGKILL'), afterMs)
  const [code] = (await exit) as [number | null]
  clearTimeout(timer)
  return code === null ? 'killed' : 'ended'
}

describe('an import', () => {
  test(`that is killed ${kills} times comes to the same end`, { timeout: kills * 120_000 }, async () => {
    const random = createRandom(Number(process.env['LEGACY_SEED'] ?? 1))
    const different: number[] = []
    let killed = 0
    while (killed < kills) {
      const database = await createScratchDatabase()
      // A few times over: what a killed run left is where the next one begins.
      for (let runs = random.int(1, 3); runs > 0 && killed < kills; runs--)
        if ((await killedImport(database, random.int(150, scene.wholeMs))) === 'killed') killed += 1
      const result = await runImport(database, scene.old.url, install.types)
      const [found, repeated] = [await dump(database.url), await repeatedAuditRows(database.url)]
      const verified = await runManager(['audit', 'verify'], testEnv(database.url))
      if (result.code !== 0 || found !== scene.wanted || repeated.length > 0 || verified.code !== 0)
        different.push(killed)
      await database.drop()
    }
    expect(different).toEqual([])
  })

  test('waits for another one, and both end well', { timeout: 300_000 }, async () => {
    const database = await createScratchDatabase()
    const both = await Promise.all([1, 2].map(() => runImport(database, scene.old.url, install.types)))
    expect(both.map(({ code }) => code)).toEqual([0, 0])
    expect(await dump(database.url)).toBe(scene.wanted)
    expect(await repeatedAuditRows(database.url)).toEqual([])
    await database.drop()
  })
})
