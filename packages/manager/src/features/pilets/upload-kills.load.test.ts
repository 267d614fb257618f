// A process that is killed during an upload leaves a version that is whole, or none; what is left of the bytes is swept.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Person, headersOf } from '../../../test/kit/app.ts'
import { sha256Of } from '../../../test/kit/blobs.ts'
import { loadSize } from '../../../test/kit/load-sizes.ts'
import { callPilets, piletPath, uploadPilet } from '../../../test/kit/pilets.ts'
import { type ServiceProcess, startProcess } from '../../../test/kit/process.ts'
import { useProject } from '../../../test/kit/project.ts'
import { type Bucket, createBucket } from '../../../test/kit/s3.ts'

type Listed = { name: string; version: string; hash: string }
type Pilet = { projectId: string; name: string; version: string; bytes: Buffer }
type Caller = { url: string }

const { service, project, member } = useProject()
let tester: Person
let bucket: Bucket
beforeAll(async () => {
  tester = await member('tester', 'tester')
  bucket = await createBucket()
})
afterAll(() => bucket.close())

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
/** The version is served with the bytes of its hash. */
const expectWhole = async ({ url }: Caller, { name, version, hash }: Listed): Promise<void> => {
  const path = piletPath({ projectId: project.id, name, version })
  const response = await fetch(url + path, { headers: headersOf(tester) })
  expect(response.status).toBe(200)
  expect(sha256Of(Buffer.from(await response.arrayBuffer()))).toBe(hash)
}
const listed = async (caller: Caller): Promise<Listed[]> =>
  (JSON.parse((await callPilets(caller, tester, `/pilets/${project.id}`)).text) as { packages: Listed[] })
    .packages

/** As a client does that was cut off: the same again, as long as it is told to try again. */
async function retry(caller: Caller, pilet: Pilet): Promise<number> {
  for (;;) {
    const { status } = await uploadPilet(caller, tester, pilet)
    if (status !== 503) return status
    await pause(200)
  }
}

/** What is stored beside what packages refer to: rows of blobs, and bytes. */
async function leftOvers(): Promise<{ rows: number; bytes: number }> {
  const { rows } = await service.sql.query<{ rows: number; chunks: number; inBucket: number }>(
    `select count(*) filter (where p.hash is null)::int rows,
       count(*) filter (where store = 's3' and p.hash is not null)::int "inBucket",
       (select count(distinct sha256)::int from blob_chunks c
        where not exists (select from pilet_packages where hash = c.sha256)) chunks
     from blobs left join (select distinct hash from pilet_packages) p on p.hash = sha256`,
  )
  const { rows: orphans, chunks, inBucket } = rows[0] as { rows: number; chunks: number; inBucket: number }
  return { rows: orphans, bytes: chunks + (await bucket.keys()).length - inBucket }
}

test.each([
  ['postgres', loadSize(4, 16)],
  ['s3', loadSize(3, 5)],
])('the store %s: killed %i times during an upload', { timeout: 900_000 }, async (store, kills) => {
  const env = { ...bucket.env, SVC_PILETS_STORE: store, SVC_PILETS_ORPHAN_GRACE: '1s' }
  const start = (): Promise<ServiceProcess> => startProcess(service.database.url, env)
  const piletOf = (name: string): Pilet => ({
    projectId: project.id,
    name: `${store}-${name}`,
    version: '1.0.0',
    bytes: randomBytes(1_048_576),
  })
  let running = await start()
  // The first upload of a process takes longer than later ones, and what is killed is the second.
  await uploadPilet(running, tester, piletOf('first'))
  const begin = performance.now()
  await uploadPilet(running, tester, piletOf('second'))
  const usualMs = performance.now() - begin
  let [interrupted, orphans, unanswered] = [0, 0, 0]
  for (let round = 0; round < kills; round++) {
    const pilet = piletOf(`round-${round}`)
    const upload = uploadPilet(running, tester, pilet).then(
      ({ status }) => status,
      () => null,
    )
    // Spread over the upload, so that few kills meet its beginning, its middle and its end.
    await pause(((round + Math.random()) / kills) * usualMs * 1.2)
    running.child.kill('SIGKILL')
    const status = await upload
    if (status === null) interrupted++
    await running.exit
    const left = await leftOvers()
    orphans += left.rows
    running = await start()
    const mine = (await listed(running)).filter(({ name }) => name === pilet.name)
    // What was answered is there, and what is there is whole.
    expect(mine.length).toBeOneOf(status === 200 ? [1] : [0, 1])
    if (status === null) unanswered += mine.length
    for (const one of mine) await expectWhole(running, one)
    expect(await retry(running, pilet)).toBe(mine.length === 1 ? 409 : 200)
    await expectWhole(running, { ...pilet, hash: sha256Of(pilet.bytes) })
  }
  const packages = (await listed(running)).filter(({ name }) => name.startsWith(store))
  expect(packages).toHaveLength(kills + 2)
  for (const one of packages) await expectWhole(running, one)
  await pause(1_100)
  const sweeper = await start()
  await expect.poll(leftOvers, { timeout: 20_000 }).toEqual({ rows: 0, bytes: 0 })
  for (const { child, exit } of [running, sweeper]) {
    child.kill('SIGTERM')
    await exit
  }
  process.stdout.write(
    `${store}: an upload takes ${usualMs.toFixed(0)} ms; of ${kills} that were killed, ${interrupted} were cut off, ` +
      `${unanswered} of them after they were stored; ${orphans} orphans\n`,
  )
  expect(interrupted).toBeGreaterThan(kills / 10)
})
