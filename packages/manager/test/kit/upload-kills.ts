// Tests that a process that is killed during an upload leaves either a complete version or no version. The sweeper
// deletes bytes without a version.
import { randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import { type Person, headersOf } from '@manager/harness/callers.ts'
import type { TestApp } from './app.ts'
import { sha256Of } from './blobs.ts'
import { callPilets, piletPath, uploadPilet } from '@manager/harness/pilets.ts'
import { type ServiceProcess, startProcess } from '@manager/harness/process.ts'
import type { Bucket } from './s3.ts'

type Listed = { name: string; version: string; hash: string }
type Pilet = { projectId: string; name: string; version: string; bytes: Buffer }
type Caller = { url: string }
type Scene = {
  service: Pick<TestApp, 'sql' | 'database'>
  projectId: string
  /** A person who may upload. */
  tester: Person
  /** The bucket that stores the bytes; null means that PostgreSQL stores them. */
  bucket: Bucket | null
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Expects that the version is served with bytes that match its hash. */
async function expectWhole({ projectId, tester }: Scene, { url }: Caller, one: Listed): Promise<void> {
  const path = piletPath({ projectId, name: one.name, version: one.version })
  const response = await fetch(url + path, { headers: headersOf(tester) })
  expect(response.status).toBe(200)
  expect(sha256Of(Buffer.from(await response.arrayBuffer()))).toBe(one.hash)
}

const listed = async ({ projectId, tester }: Scene, caller: Caller): Promise<Listed[]> =>
  (JSON.parse((await callPilets(caller, tester, `/pilets/${projectId}`)).text) as { packages: Listed[] })
    .packages

/** Uploads again until the service is not busy, as a client does after an aborted upload. */
async function retry({ tester }: Scene, caller: Caller, pilet: Pilet): Promise<number> {
  for (;;) {
    const { status } = await uploadPilet(caller, tester, pilet)
    if (status !== 503) return status
    await pause(200)
  }
}

/** Counts the blob rows and the stored blobs that no package refers to. */
async function leftOvers({ service, bucket }: Scene): Promise<{ rows: number; bytes: number }> {
  const { rows } = await service.sql.query<{ rows: number; chunks: number; inBucket: number }>(
    `select count(*) filter (where p.hash is null)::int rows,
       count(*) filter (where store = 's3' and p.hash is not null)::int "inBucket",
       (select count(distinct sha256)::int from blob_chunks c
        where not exists (select from pilet_packages where hash = c.sha256)) chunks
     from blobs left join (select distinct hash from pilet_packages) p on p.hash = sha256`,
  )
  const { rows: orphans, chunks, inBucket } = rows[0] as { rows: number; chunks: number; inBucket: number }
  return { rows: orphans, bytes: chunks + ((await bucket?.keys())?.length ?? 0) - inBucket }
}

/**
 * Kills the process `kills` times during an upload. Expects complete versions, successful retries, and no leftover
 * bytes.
 */
export async function expectWholeAfterKills(scene: Scene, kills: number): Promise<void> {
  const { service, projectId, tester, bucket } = scene
  const store = bucket === null ? 'postgres' : 's3'
  const env = { ...bucket?.env, SVC_PILETS_ORPHAN_GRACE: '1s' }
  const start = (): Promise<ServiceProcess> => startProcess(service.database.url, env)
  const piletOf = (name: string): Pilet => ({
    projectId,
    name: `${store}-${name}`,
    version: '1.0.0',
    bytes: randomBytes(1_048_576),
  })
  let running = await start()
  // The first upload of a process is slower than later uploads, so only later uploads are killed.
  await uploadPilet(running, tester, piletOf('first'))
  const startedAt = performance.now()
  await uploadPilet(running, tester, piletOf('second'))
  const usualMs = performance.now() - startedAt
  let [interrupted, orphans, unanswered] = [0, 0, 0]
  for (let round = 0; round < kills; round++) {
    const pilet = piletOf(`round-${round}`)
    const upload = uploadPilet(running, tester, pilet).then(
      ({ status }) => status,
      () => null,
    )
    // Distribute the kills over the duration of an upload, so that even a few kills hit its start, middle and
    // end.
    await pause(((round + Math.random()) / kills) * usualMs * 1.2)
    running.child.kill('SIGKILL')
    const status = await upload
    if (status === null) interrupted++
    await running.exit
    const left = await leftOvers(scene)
    orphans += left.rows
    running = await start()
    const mine = (await listed(scene, running)).filter(({ name }) => name === pilet.name)
    // An acknowledged version must exist, and an existing version must be complete.
    expect(mine.length).toBeOneOf(status === 200 ? [1] : [0, 1])
    if (status === null) unanswered += mine.length
    for (const one of mine) await expectWhole(scene, running, one)
    expect(await retry(scene, running, pilet)).toBe(mine.length === 1 ? 409 : 200)
    await expectWhole(scene, running, { ...pilet, hash: sha256Of(pilet.bytes) })
  }
  const packages = (await listed(scene, running)).filter(({ name }) => name.startsWith(store))
  expect(packages).toHaveLength(kills + 2)
  for (const one of packages) await expectWhole(scene, running, one)
  await pause(1_100)
  const sweeper = await start()
  await expect.poll(() => leftOvers(scene), { timeout: 20_000 }).toEqual({ rows: 0, bytes: 0 })
  for (const { child, exit } of [running, sweeper]) {
    child.kill('SIGTERM')
    await exit
  }
  process.stdout.write(
    `${store}: an upload takes ${usualMs.toFixed(0)} ms; killed ${kills} uploads: ${interrupted} interrupted, ` +
      `${unanswered} of them after the commit; ${orphans} orphans\n`,
  )
  expect(interrupted).toBeGreaterThan(kills / 10)
}
