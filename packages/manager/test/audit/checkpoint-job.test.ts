// Tests that a process writes checkpoints periodically, and only if chains have new rows.
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSigningKey } from '../../src/platform/secrets/keys.ts'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { headersOf, masterKey } from '@manager/harness/callers.ts'
import { type TestDatabase, createScratchDatabase } from '../kit/databases.ts'
import { postQuery } from '@manager/harness/graphql.ts'
import { type ServiceProcess, startProcess } from '@manager/harness/process.ts'
import { seedUser } from '@manager/harness/seed.ts'

const intervalMs = 200
const key = createSigningKey(Buffer.from(masterKey, 'base64'), 'audit-checkpoint')

let database: TestDatabase
let sql: Client
let service: ServiceProcess
/** Another replica, whose checkpoint job the test runs on demand. */
let replica: TestApp
beforeAll(async () => {
  database = await createScratchDatabase()
  sql = new Client({ connectionString: database.url })
  await sql.connect()
  replica = await startTestApp({ database })
  service = await startProcess(database.url, { SVC_AUDIT_CHECKPOINT_INTERVAL_MS: String(intervalMs) })
})
afterAll(async () => {
  service.child.kill('SIGKILL')
  await service.exit
  await replica.close()
  await sql.end()
  await database.drop()
})

type Stored = { seq: string; prev_hash: Buffer; hash: Buffer; signature: Buffer }
const checkpoints = async (): Promise<Stored[]> =>
  (await sql.query<Stored>('select * from audit_checkpoints order by seq')).rows
const unsealed = async (): Promise<number> =>
  (await sql.query('select 1 from audit_chains where checkpointed_seq < seq')).rowCount ?? 0

test('[audit-append.checkpoint] a process writes one after each interval that saw rows, linked and signed, and none after a quiet one', async () => {
  const admin = await seedUser(sql as never, 'sealing', 'administrator')
  const change = async (slug: string): Promise<void> => {
    const text = `mutation { createProject(input: {name: "x", slug: "${slug}"}) { id } }`
    expect((await postQuery(service.url, headersOf(admin), text)).error).toBeNull()
  }
  for (const round of [1, 2, 3]) {
    await change(`round-${round}`)
    await expect.poll(unsealed).toBe(0)
    const made = await checkpoints()
    // A change writes to two chains. If a checkpoint interval ends between the two writes, two checkpoints cover the
    // change instead of one.
    expect(made.length).toBeGreaterThanOrEqual(round)
    for (const _ of [1, 2, 3])
      await replica.app.schedules.find(({ name }) => name === 'audit-checkpoint')?.run()
    expect(await checkpoints()).toEqual(made)
  }
  const made = await checkpoints()
  expect(made.map(({ hash, signature }) => key.verify(hash, signature))).toEqual(made.map(() => true))
  expect(made.slice(1).map(({ prev_hash }) => prev_hash)).toEqual(made.slice(0, -1).map(({ hash }) => hash))
  // Log lines may be written slightly later.
  await expect
    .poll(() => service.lines.filter((line) => line.includes('"checkpoint"')).length)
    .toBe(made.length)
})
