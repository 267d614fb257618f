// The check of revocation.load.test.ts finds a planted fault.
import { expect, test } from 'vitest'
import { createScratchDatabase } from '../kit/databases.ts'
import { type Live, hammer, startLiveWorld } from '@manager/harness/live-credentials.ts'
import { type Ending, acceptedAfterEnd } from '@manager/harness/revocation.ts'

const plantedCache = new URL('../planted/cached-reads.ts', import.meta.url).pathname

test('finds a cache of 50 ms that is planted in front of the lookups', { timeout: 120_000 }, async () => {
  const database = await createScratchDatabase()
  const { world, sql, addMachine, stop } = await startLiveWorld(database.url, plantedCache)
  // By hand, so that the answer comes right after the commit even when the machine is busy.
  const disable = async ({ id }: Live): Promise<Ending> => {
    await new Promise((resolve) => setTimeout(resolve, 500))
    const askedAt = performance.now()
    await sql.query('update machine_users set enabled = false where id = $1', [id])
    return { askedAt, answeredAt: performance.now() }
  }
  let [stale, all] = [0, 0]
  // One credential at a time, so that every process has it in its cache when it ends.
  for (let i = 0; i < 10 && stale === 0; i++) {
    world.live = []
    await addMachine()
    const { uses, endings } = await hammer(world, world.live, { seconds: 2, endOne: disable })
    stale += acceptedAfterEnd(uses, endings).length
    all += uses.length
  }
  await stop()
  await database.drop()
  process.stdout.write(`planted 50 ms cache: accepted_after=${stale} of ${all} uses\n`)
  expect(stale).toBeGreaterThan(0)
})
