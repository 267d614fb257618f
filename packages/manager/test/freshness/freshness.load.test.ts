// Tests that a change is visible on every process as soon as the response to it is sent.
import { expect, test } from 'vitest'
import { createScratchDatabase } from '../kit/databases.ts'
import {
  type Changes,
  findPrematureResponses,
  prepareFreshness,
  readWhileChanging,
  findStaleResponses,
} from '../kit/freshness.ts'
import { loadSize } from '@manager/harness/load-sizes.ts'

test('finds an answer that is older than the request, and one that shows the future', () => {
  const changes = { project: [{ askedAt: 1, answeredAt: 2 }], leaf: [], pack: [] } as Changes
  const late = { startedAt: 3, answeredAt: 4, shown: { project: 0 } }
  const during = { startedAt: 1.5, answeredAt: 4, shown: { project: 0 } }
  const right = { startedAt: 3, answeredAt: 4, shown: { project: 1 } }
  expect(findStaleResponses([late, during, right], changes)).toEqual([late])
  const early = { startedAt: 0, answeredAt: 0.5, shown: { project: 1 } }
  expect(findPrematureResponses([early, right, { ...right, shown: { project: 2 } }], changes)).toHaveLength(2)
})

test(
  '[frontend-config.tenant] [language-packs.serve] a change answered by one process is seen by every request that starts after it on the others',
  { timeout: 120_000 },
  async () => {
    const database = await createScratchDatabase()
    const world = await prepareFreshness(database.url)
    // Far fewer requests are enough to detect the planted cache in freshness.nightly.test.ts.
    const { seen, changes, count } = await readWhileChanging(world, 1_000, {
      answers: loadSize(3_000, 30_000),
      minChanges: loadSize(30, 100),
    })
    world.stop()
    await database.drop()
    const stale = findStaleResponses(seen, changes)
    process.stdout.write(`freshness: stale=${stale.length} of ${seen.length} answers, ${count} changes\n`)
    expect(stale).toEqual([])
    expect(findPrematureResponses(seen, changes)).toEqual([])
  },
)
