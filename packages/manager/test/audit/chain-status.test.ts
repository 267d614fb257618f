// Tests the chain status in reports and exports.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createChainStatus } from '../../src/platform/audit/chain-status.ts'
import { runVerification } from '../../src/platform/audit/verify-incremental.ts'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { appendRows, checkpointKey, clearTrail, macKey, sealAll, tamper } from '../kit/trail.ts'
import { addVerifiedChains } from '../kit/verified-chains.ts'

const [first, second] = ['01a1dce9-d14b-710f-8362-6ebef3620ecb', '01a1dce9-d14b-710f-8362-6ebef3620ecc']
const keys = [checkpointKey]
// Limits that are low enough to be exceeded with few rows.
const most = { rows: 1_100, checkpoints: 10 }
const read = createChainStatus({ keys, macKey }, most)
let service: TestApp
beforeAll(async () => {
  service = await startTestApp()
})
beforeEach(() => clearTrail(service))
afterAll(() => service.close())

const verify = () =>
  runVerification({ db: service.world.database.db.write, keys, macKey }, { newRows: 100_000, oldRows: 0 })
async function status(chainId: string | null) {
  const snapshot = await service.world.database.openSnapshot()
  try {
    return await read(snapshot, chainId)
  } finally {
    await snapshot.close()
  }
}
/**
 * Returns the verdict, the total number of rows that the SQL statements read, and the maximum per statement.
 */
async function counted(chainId: string | null) {
  const snapshot = await service.world.database.openSnapshot()
  const counts: number[] = []
  const query = async <Row extends object>(text: string, values?: readonly unknown[]) => {
    const found = await snapshot.query<Row>(text, values)
    counts.push(found.length)
    return found
  }
  const verdict = await read({ ...snapshot, query }, chainId)
  await snapshot.close()
  return { verdict, rows: counts.reduce((sum, count) => sum + count, 0), most: Math.max(...counts) }
}
const hashAt = async (chainId: string, seq: number): Promise<string | undefined> =>
  (
    await service.sql.query<{ hash: string }>(
      "select encode(hash, 'hex') as hash from audit_logs where chain_id = $1 and seq = $2",
      [chainId, seq],
    )
  ).rows[0]?.hash
const whole = { first_broken_seq: null, reason: null, verified_at: expect.stringMatching(/Z$/) }

describe('the status of one chain', () => {
  test('[audit-append.chain-object] counts what was verified before and what is verified now, sealed or not', async () => {
    await appendRows(service, first, 10)
    const [checkpoint] = await sealAll(service)
    await appendRows(service, first, 5)
    const expected = {
      ...whole,
      status: 'ok',
      entries: 15,
      from_seq: 1,
      to_seq: 15,
      head_hash: await hashAt(first, 15),
      checkpoint: {
        size: 10,
        hash: await hashAt(first, 10),
        signature: checkpoint?.signature,
        keyId: checkpointKey.keyId,
        created_at: checkpoint?.createdAt,
      },
    }
    // The status is the same before and after the first verification run.
    expect(await status(first)).toEqual(expected)
    await verify()
    expect(await status(first)).toEqual(expected)
    expect(await status(second)).toEqual({
      ...whole,
      status: 'empty',
      entries: 0,
      from_seq: null,
      to_seq: null,
      head_hash: null,
      checkpoint: null,
    })
  })

  test('says how far it came when there is too much that is new', async () => {
    await appendRows(service, first, 1_400)
    await sealAll(service)
    expect(await status(first)).toMatchObject({
      status: 'ok',
      entries: 1_100,
      to_seq: 1_100,
      reason: 'verified up to here; not verified yet: 300 rows',
      checkpoint: null,
    })
    expect(await status(null)).toMatchObject({
      status: 'ok',
      entries: 1_100,
      reason: 'verified up to here; not verified yet: 300 rows',
      checkpoint: null,
    })
    await verify()
    expect(await status(first)).toMatchObject({
      entries: 1_400,
      reason: null,
      checkpoint: { size: 1_400 },
    })
    expect(await status(null)).toMatchObject({ entries: 1_400, reason: null, checkpoint: { size: 1 } })
  })

  test('says that there are more checkpoints than it read', async () => {
    const grow = async (): Promise<void> => {
      await appendRows(service, first, 1)
      await sealAll(service)
    }
    const reasons = async () => [(await status(first)).reason, (await status(null)).reason]
    for (let made = 0; made < 10; made++) await grow()
    expect(await reasons()).toEqual([null, null])
    await grow()
    const more = 'verified up to here; not verified yet: newer checkpoints'
    expect(await reasons()).toEqual([more, more])
    await appendRows(service, first, 1_100)
    expect((await status(first)).reason).toBe(
      'verified up to here; not verified yet: 11 rows and newer checkpoints',
    )
    await verify()
    expect(await reasons()).toEqual([null, null])
  })

  test('reads only what is new, however much is old', async () => {
    const read: number[] = []
    for (const old of [100, 3_000]) {
      await appendRows(service, first, old)
      await sealAll(service)
      await verify()
      await appendRows(service, first, 7)
      read.push((await counted(first)).rows)
    }
    expect(read[1]).toBe(read[0])
    expect(read[0]).toBeLessThan(20)
  })

  test.each([
    ["update audit_logs set description = 'x' where seq = 13", 13, 'row 13 was changed'],
    ['delete from audit_logs where seq > 12', 13, 'rows are missing: the chain had rows up to 15'],
    [
      `delete from audit_logs where seq > 12; update audit_chains c set seq = 12, hash = l.hash from audit_logs l where l.seq = 12`,
      null,
      null,
    ],
    [
      `delete from audit_logs where seq > 8; update audit_chains c set seq = 8, checkpointed_seq = 8, hash = l.hash from audit_logs l where l.seq = 8`,
      9,
      "the chain's head has a different row count: 8",
    ],
    [
      'update audit_chains set checkpointed_seq = 15',
      11,
      "the chain's head refers to a checkpoint that does not exist",
    ],
    ['update audit_chains set hash = sha256(hash)', 15, "the chain's head has a different hash"],
    ['delete from audit_checkpoints', null, 'checkpoint 1 is missing or was replaced'],
    [
      `update audit_verified_chains set seq = 15`,
      null,
      `the verification mark of chain ${first} was changed in the database`,
    ],
  ])('[audit-append.chain-status] after %s', async (change, seq, reason) => {
    await appendRows(service, first, 10)
    await sealAll(service)
    await verify()
    await appendRows(service, first, 5)
    await tamper(service, change)
    const expected = { status: reason === null ? 'ok' : 'broken', first_broken_seq: seq, reason }
    expect(await status(first)).toMatchObject(expected)
    const inAll = seq === null ? reason : `chain ${first}: ${reason}`
    const { reason: said, ...all } = await status(null)
    expect(all).toMatchObject({ status: expected.status, first_broken_seq: seq })
    expect(said ?? '').toContain(inAll ?? '')
  })

  test('[audit-append.chain-status] what the job found is said until everything was found whole', async () => {
    await appendRows(service, first, 10)
    await sealAll(service)
    await tamper(service, "update audit_logs set user_agent = 'x' where seq = 4")
    await verify()
    const broken = {
      status: 'broken',
      entries: 3,
      to_seq: 3,
      first_broken_seq: 4,
      reason: 'row 4 was changed',
    }
    expect(await status(first)).toMatchObject(broken)
    await tamper(service, "update audit_logs set user_agent = '' where seq = 4")
    await verify()
    expect(await status(first)).toMatchObject(broken)
  })
})

test('[audit-append.chain-object] the status of all chains is the worst, with their sum and the newest checkpoint', async () => {
  expect(await status(null)).toMatchObject({ status: 'empty', entries: 0, checkpoint: null })
  for (const [chain, rows] of [
    [first, 10],
    [second, 20],
    [null, 5],
  ] as const)
    await appendRows(service, chain, rows)
  const [checkpoint] = await sealAll(service)
  await verify()
  await appendRows(service, second, 3)
  expect(await status(null)).toEqual({
    ...whole,
    status: 'ok',
    entries: 38,
    from_seq: null,
    to_seq: null,
    head_hash: null,
    checkpoint: {
      size: 1,
      hash: checkpoint?.hash,
      signature: checkpoint?.signature,
      keyId: checkpointKey.keyId,
      created_at: checkpoint?.createdAt,
    },
  })
  await tamper(service, `update audit_logs set description = 'x' where chain_id = '${second}' and seq = 22`)
  expect(await status(null)).toMatchObject({
    status: 'broken',
    first_broken_seq: 22,
    reason: `chain ${second}: row 22 was changed`,
  })
  expect(await status(first)).toMatchObject({ status: 'ok' })
})

test('the status of many chains reads a head and a mark of each, a few hundred at a time', async () => {
  const entries = await addVerifiedChains(service.world.database, 1_100)
  const { verdict, rows, most } = await counted(null)
  expect(verdict).toMatchObject({ status: 'ok', entries, reason: null })
  expect(most).toBeLessThanOrEqual(500)
  expect(rows).toBeLessThan(2 * 1_100 + 10)
})

test('[audit-append.chain-status] a sealed chain that was removed before any run saw it is missed among all', async () => {
  await appendRows(service, first, 10)
  await appendRows(service, second, 10)
  await sealAll(service)
  await tamper(
    service,
    `delete from audit_logs where chain_id = '${second}'; delete from audit_chains where chain_id = '${second}'`,
  )
  expect(await status(null)).toMatchObject({
    status: 'broken',
    first_broken_seq: 1,
    reason: `chain ${second}: the chain's head is missing`,
  })
  expect(await status(second)).toMatchObject({ status: 'broken', first_broken_seq: 1 })
  expect(await status(first)).toMatchObject({ status: 'ok', reason: null })
})
