// Tests that the check in revocation.load.test.ts finds a planted fault.
import { expect, test } from 'vitest'
import { createScratchDatabase } from '../kit/databases.ts'
import { type LiveCredential, startLiveWorld, useAndInvalidate } from '@manager/harness/live-credentials.ts'
import { type Invalidation, findAcceptedAfterInvalidation } from '@manager/harness/revocation.ts'

const plantedCache = new URL('../planted/cached-reads.ts', import.meta.url).pathname

test('finds a cache of 50 ms that is planted in front of the lookups', { timeout: 120_000 }, async () => {
  const database = await createScratchDatabase()
  const { world, sql, addMachine, stop } = await startLiveWorld(database.url, plantedCache)
  // Revoke with SQL, so that the response follows the commit immediately even on a busy machine.
  const disable = async ({ id }: LiveCredential): Promise<Invalidation> => {
    await new Promise((resolve) => setTimeout(resolve, 500))
    const requestedAt = performance.now()
    await sql.query('update machine_users set enabled = false where id = $1', [id])
    return { requestedAt, confirmedAt: performance.now() }
  }
  let [stale, all] = [0, 0]
  // Revoke one credential at a time, so that every process has cached the credential at that moment.
  for (let i = 0; i < 10 && stale === 0; i++) {
    world.credentials = []
    await addMachine()
    const { uses, invalidations } = await useAndInvalidate(world, world.credentials, {
      seconds: 2,
      invalidate: disable,
    })
    stale += findAcceptedAfterInvalidation(uses, invalidations).length
    all += uses.length
  }
  await stop()
  await database.drop()
  process.stdout.write(`planted 50 ms cache: accepted_after=${stale} of ${all} uses\n`)
  expect(stale).toBeGreaterThan(0)
})
