// Measures the cost of a fetch in pages, which is more stable than its duration. The number of pages must not depend
// on how many jobs are claimed or waiting.
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { lookupSettings } from '../postgres/pools.ts'
import { fetch } from './statements.ts'

let service: TestApp
let client: Client
beforeAll(async () => {
  service = await startTestApp()
  client = new Client({ connectionString: service.database.url, options: lookupSettings })
  await client.connect()
})
afterAll(async () => {
  await client.end()
  await service.close()
})

const [maxRunningPerGroup, count] = [32, 20]
/** Inserts `each` jobs into each of `groups` groups. */
const add = (owners: string, groups: number, each: number, isHeld: boolean) =>
  client.query(
    `insert into queued_jobs (queue, owner, group_key, data, is_held, hidden_until)
     select 'letters', ${owners}, ${owners} || '/' || g, '{}', $3, case when $3 then now() + interval '1 hour' end
     from generate_series(1, $1::integer) g, generate_series(1, $2::integer)`,
    [groups, each, isHeld],
  )

/** Returns the pages that a fetch touches, and asserts that the fetch returns `count` jobs. */
async function pagesOfFetch(busyOwners: readonly string[]): Promise<number> {
  await client.query('vacuum analyze queued_jobs')
  await client.query('begin')
  const { rows } = await client.query(`explain (analyze, buffers, format json) ${fetch.text}`, [
    'letters',
    count,
    maxRunningPerGroup,
    busyOwners,
    '',
    '',
    4,
  ])
  await client.query('rollback')
  const plan = rows[0]['QUERY PLAN'][0].Plan as Record<string, number>
  expect(plan['Actual Rows']).toBe(count)
  return (plan['Shared Hit Blocks'] as number) + (plan['Shared Read Blocks'] as number)
}

test('a fetch reads the groups it takes from, whatever number of jobs is held and waits', async () => {
  await add(`'p' || g`, 1_000, 1, false)
  const few = await pagesOfFetch([])
  await add(`'held' || g`, 2_500, 20, true)
  const held = await pagesOfFetch([])
  // These jobs sort before the others: a full group, and an owner that has used up its share.
  await add(`'a'`, 1, maxRunningPerGroup, true)
  await add(`'a'`, 1, 20_000, false)
  await add(`'busy'`, 100, 200, false)
  const waiting = await pagesOfFetch(['busy'])
  process.stdout.write(
    `a fetch of ${count} jobs: ${few} pages; ${held} with 50,000 held; ${waiting} with 40,000 waiting in front\n`,
  )
  // The indexes are one level deeper, and the fetch counts the jobs of the full group up to its limit.
  expect(held).toBeLessThanOrEqual(few * 2)
  expect(waiting).toBeLessThanOrEqual(few * 2 + 2 * maxRunningPerGroup)
}, 300_000)
