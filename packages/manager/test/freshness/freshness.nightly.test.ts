// Tests that the check in freshness.load.test.ts finds a planted fault.
import { expect, test } from 'vitest'
import { createScratchDatabase } from '../kit/databases.ts'
import { prepareFreshness, readWhileChanging, findStaleResponses } from '../kit/freshness.ts'

const plantedCache = new URL('../planted/cached-reads.ts', import.meta.url).pathname

test('finds a cache of 50 ms that is planted in front of the lookups', { timeout: 120_000 }, async () => {
  const database = await createScratchDatabase()
  const world = await prepareFreshness(database.url, plantedCache)
  let [stale, all] = [0, 0]
  for (let i = 0; i < 10 && stale === 0; i++) {
    const { seen, changes } = await readWhileChanging(world, 500, { answers: 1_000, minChanges: 10 })
    stale += findStaleResponses(seen, changes).length
    all += seen.length
  }
  world.stop()
  await database.drop()
  process.stdout.write(`planted 50 ms cache: stale=${stale} of ${all} answers\n`)
  expect(stale).toBeGreaterThan(0)
})
