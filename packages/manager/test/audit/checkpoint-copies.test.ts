// Tests copies of checkpoints in a bucket: each copy is written only once, copies are in order, and an unreachable
// bucket does not block the service.
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { testEnv } from '@manager/harness/test-env.ts'
import { createScratchDatabase } from '../kit/databases.ts'
import { runManager } from '../kit/commands.ts'
import { type Bucket, createBucket } from '../kit/s3.ts'
import { appendRows, sealAll, tamper } from '../kit/trail.ts'

const chainId = '01a1dce9-d14b-710f-8362-6ebef3620ecb'
let bucket: Bucket
let service: TestApp
beforeAll(async () => {
  bucket = await createBucket()
  service = await start(bucket.settings.endpoint)
})
afterAll(async () => {
  await service.close()
  bucket.close()
})

const start = async (endpoint: string, database?: TestApp['database']): Promise<TestApp> =>
  startTestApp({
    database: database ?? (await createScratchDatabase()),
    env: {
      SVC_AUDIT_CHECKPOINT_SINK: 's3',
      SVC_AUDIT_CHECKPOINT_S3_ENDPOINT: endpoint,
      SVC_AUDIT_CHECKPOINT_S3_BUCKET: bucket.settings.bucket,
      SVC_AUDIT_CHECKPOINT_S3_ACCESS_KEY_ID: bucket.settings.credentials.accessKeyId,
      SVC_AUDIT_CHECKPOINT_S3_SECRET_ACCESS_KEY: bucket.settings.credentials.secretAccessKey,
    },
  })
const runOf = (app: TestApp, name: string) =>
  app.app.schedules.find((schedule) => schedule.name === name)?.run() ??
  Promise.reject(new Error('no schedule'))
const copy = (app = service) => runOf(app, 'audit-checkpoint-copies')
const moved = async (): Promise<void> => {
  await appendRows(service, chainId, 3)
  await runOf(service, 'audit-checkpoint')
}
const lag = async (app = service): Promise<number | undefined> =>
  Number(/^svc_audit_checkpoint_sink_lag (\d+)$/m.exec(await app.world.metrics.registry.metrics())?.[1])
const nameOf = async (seq: number): Promise<string> => {
  const { rows } = await service.sql.query<{ hash: string }>(
    "select encode(hash, 'hex') as hash from audit_checkpoints where seq = $1",
    [seq],
  )
  return `audit-checkpoints/${String(seq).padStart(12, '0')}-${rows[0]?.hash}.json`
}
const contentOf = async (Key: string): Promise<string | undefined> =>
  (
    await bucket.client.send(new GetObjectCommand({ Bucket: bucket.settings.bucket, Key }))
  ).Body?.transformToString()

test('[audit-append.checkpoint-kept-twice] each checkpoint becomes one object, which verifies against the database', async () => {
  await moved()
  await moved()
  await copy()
  expect(await bucket.keys()).toEqual([await nameOf(1), await nameOf(2)])
  expect(await lag()).toBe(0)
  const folder = mkdtempSync(`${tmpdir()}/copies-`)
  for (const seq of [1, 2]) writeFileSync(`${folder}/${seq}.json`, (await contentOf(await nameOf(seq))) ?? '')
  writeFileSync(`${folder}/joined.txt`, `${await contentOf(await nameOf(1))}not json "prevHash"\n`)
  const verify = () => runManager(['audit', 'verify', '--checkpoints', folder], testEnv(service.database.url))
  expect(await verify()).toMatchObject({ code: 0, stderr: expect.stringContaining('1 unreadable line') })
  await tamper(
    service,
    `create table kept as select * from audit_checkpoints where seq = 2;
    delete from audit_checkpoints where seq = 2; update audit_chains set checkpointed_seq = 3`,
  )
  expect((await verify()).stdout).toContain('checkpoint 2 exists outside the database but is missing from it')
  await tamper(
    service,
    'insert into audit_checkpoints select * from kept; update audit_chains set checkpointed_seq = 6',
  )
})

test('an object that is there is left as it is', async () => {
  await moved()
  const Key = await nameOf(3)
  await bucket.client.send(new PutObjectCommand({ Bucket: bucket.settings.bucket, Key, Body: 'was here' }))
  await copy()
  expect(await lag()).toBe(0)
  expect(await contentOf(Key)).toBe('was here')
})

test('a bucket that is away stops neither sealing nor what follows; nothing is left out when it is back', async () => {
  const away = await start('http://127.0.0.1:9', service.database)
  await moved()
  await moved()
  await expect(copy(away)).rejects.toThrow()
  expect(await lag(away)).toBe(2)
  await runOf(away, 'audit-checkpoint')
  await away.close()
  await Promise.all([copy(), copy()])
  expect(await lag()).toBe(0)
  expect(await bucket.keys()).toHaveLength(5)
}, 60_000)

test('a note that somebody moved on leaves no checkpoint without a copy', async () => {
  await moved()
  await service.sql.query('update audit_checkpoint_copies set seq = 6')
  await copy()
  expect(await bucket.keys()).toContain(await nameOf(6))
  await sealAll(service)
})
