// These tests review 20,000 users with three grants each, or 100,000 users with LOAD_SIZE=full. The report
// must be exact, and memory use must not grow with its size.
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { seedAccessCrowd } from '../../../test/kit/access-crowd.ts'
import { attestPath, reviewPath } from '../../../test/kit/access-reviews.ts'
import { type Person, headersOf } from '@manager/harness/callers.ts'
import { call } from '@manager/harness/credentials.ts'
import { createScratchDatabase } from '../../../test/kit/databases.ts'
import { loadSize } from '@manager/harness/load-sizes.ts'
import { type ServiceProcess, startProcess } from '@manager/harness/process.ts'
import { seedUser } from '@manager/harness/seed.ts'

const people = loadSize(20_000, 100_000)
const entries = 3 * people + 1
const maxGrowthMb = 96

let database: Awaited<ReturnType<typeof createScratchDatabase>>
let sql: Pool
let service: ServiceProcess
let admin: Person
/** The start of the first report. All tests use this report, because generating it is slow. */
let firstReportStart = ''
beforeAll(async () => {
  database = await createScratchDatabase()
  sql = new Pool({ connectionString: database.url, max: 2 })
  await seedAccessCrowd(sql, people)
  admin = await seedUser(sql, 'admin', 'administrator')
  // A small heap makes the garbage collector run early, so that the measured growth is live memory, not garbage.
  service = await startProcess(database.url, {
    NODE_OPTIONS: '--max-old-space-size=160 --max-semi-space-size=8',
  })
}, 180_000)
afterAll(async () => {
  service?.child.kill('SIGKILL')
  await service?.exit
  await sql?.end()
  await database?.drop()
})

const rssMb = (): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${service.child.pid}/status`, 'utf8'))?.[1]) / 1_024

/** Prints how long the work took. Returns its result and the memory growth of the process. */
async function measured<T>(name: string, work: () => Promise<T>): Promise<{ result: T; growthMb: number }> {
  const [began, before] = [performance.now(), rssMb()]
  let most = before
  const watch = setInterval(() => (most = Math.max(most, rssMb())), 20)
  const result = await work()
  clearInterval(watch)
  const growthMb = Math.max(most, rssMb()) - before
  process.stdout.write(
    `${name}: ${Math.round(performance.now() - began)} ms, ${growthMb.toFixed(0)} MB on top of ${before.toFixed(0)} MB\n`,
  )
  return { result, growthMb }
}

/** Streams a report. Returns its start and the number of occurrences of the search string. */
async function readReport(query: string, counted: string, accept = 'application/json') {
  const response = await fetch(`${service.url}${reviewPath}${query}`, {
    headers: { ...headersOf(admin), accept },
  })
  let [start, count, bytes, rest] = ['', 0, 0, '']
  for await (const chunk of response.body ?? []) {
    const text = rest + Buffer.from(chunk).toString('latin1')
    if (start.length < 1_000) start += text.slice(0, 1_000)
    count += text.split(counted).length - 1
    rest = text.slice(text.length - counted.length + 1)
    bytes += chunk.length
  }
  return { status: response.status, start, count, bytes }
}

const attest = (body: object) => call(service.url, attestPath, headersOf(admin), body)
const hashOf = (start: string): string => /"population_hash":"([0-9a-f]{64})"/.exec(start)?.[1] ?? ''
const idOf = (start: string): string => /"report_id":"([0-9a-f-]{36})"/.exec(start)?.[1] ?? ''
const countOpenSnapshots = async (): Promise<number> =>
  (
    await sql.query(
      `select count(*)::int as n from pg_stat_activity where datname = current_database() and state = 'idle in transaction'`,
    )
  ).rows[0].n

describe(`${people} people with three grants each`, () => {
  test('[access-review.consistent] JSON, CSV and page are complete, and memory stays bounded', async () => {
    const json = await measured('JSON', () => readReport('', '"entry_id":'))
    expect(json.result).toMatchObject({ status: 200, count: entries })
    firstReportStart = json.result.start
    const csv = await measured('CSV', () => readReport('?format=csv', '\r\n'))
    expect(csv.result).toMatchObject({ status: 200, count: entries + 1 })
    const page = await measured('page', () => readReport('', '<tr class="re', 'text/html'))
    expect(page.result).toMatchObject({ status: 200, count: 1_000 })
    for (const { growthMb } of [json, csv, page]) expect(growthMb).toBeLessThan(maxGrowthMb)
  })

  test('[access-review.attest-population] all of it is attested; one changed grant in between answers 409', async () => {
    const whole = {
      report_id: idOf(firstReportStart),
      population_hash: hashOf(firstReportStart),
      decision: 'approve',
    }
    const first = await measured('attest', () => attest(whole))
    expect(first.result).toMatchObject({ status: 200, body: { entries } })
    const again = await measured('attest again', () => attest(whole))
    expect(again.result).toMatchObject({ status: 200, body: { entries } })
    expect(again.growthMb).toBeLessThan(maxGrowthMb)
    const attested = await sql.query('select from access_entry_attestations where attestation_id = $1', [
      again.result.body.attestation_id,
    ])
    expect(attested.rowCount).toBe(entries)
    await sql.query(
      `update user2projects set role = 'tester' where id = (select id from user2projects limit 1)`,
    )
    const refused = await measured('attest another population', () => attest(whole))
    expect(refused.result.status).toBe(409)
  })

  test('[access-review.consistent] changes while it is read are not in it', async () => {
    const response = await fetch(service.url + reviewPath, { headers: headersOf(admin) })
    const reader = response.body?.getReader()
    const first = await reader?.read()
    await sql.query(`delete from user2applications`)
    let count =
      Buffer.from(first?.value ?? [])
        .toString('latin1')
        .split('"entry_id":').length - 1
    let rest = ''
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
      const text = rest + Buffer.from(part.value).toString('latin1')
      count += text.split('"entry_id":').length - 1
      rest = text.slice(-10)
    }
    expect(count).toBeGreaterThan(0.99 * entries)
  })

  test('[access-review.consistent] who leaves gives the connection back; when all are in use the answer is 503', async () => {
    const readers = await Promise.all(
      [1, 2].map(async () => {
        const leaving = new AbortController()
        const response = await fetch(service.url + reviewPath, {
          headers: headersOf(admin),
          signal: leaving.signal,
        })
        return { leaving, status: response.status }
      }),
    )
    expect(readers.map(({ status }) => status)).toEqual([200, 200])
    const third = await call(service.url, reviewPath, headersOf(admin))
    expect([third.status, third.headers.get('retry-after')]).toEqual([503, '1'])
    for (const { leaving } of readers) leaving.abort()
    while ((await countOpenSnapshots()) > 0) await delay(20)
    const [{ id }] = (await sql.query('select id from projects limit 1')).rows
    expect((await readReport(`?project_id=${id}`, '"entry_id":')).status).toBe(200)
  })
})
