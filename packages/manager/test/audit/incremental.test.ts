// Tests incremental verification. Verification resumes after the last verified row, and finds tampering with new rows,
// old rows and marks. Its cost does not depend on the number of rows that have already been verified.
import { randomUUID } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { beforeCheckpoints } from '../../src/platform/audit/checkpoint-chain.ts'
import { createQuery } from '../../src/platform/audit/rows.ts'
import {
  claimVerification,
  readMarks,
  readState,
  saveVerification,
} from '../../src/platform/audit/verification-marks.ts'
import { clearFindings, readVerdict, runVerification } from '../../src/platform/audit/verify-incremental.ts'
import type { DB } from '../../src/generated/db.ts'
import type { Queries } from '../../src/platform/postgres/handles.ts'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { appendRows, checkpointKey, clearTrail, macKey, sealAll, tamper } from '../kit/trail.ts'
import { expectPassesFindAll } from '../kit/random-tampering.ts'
import { rewriteFrom } from '../kit/tampering.ts'

const [chainId, other] = ['01a1dce9-d14b-710f-8362-6ebef3620ecb', '01a1dce9-d14b-710f-8362-6ebef3620ecc']
const plenty = { newRows: 100_000, oldRows: 100_000 }
let service: TestApp
beforeAll(async () => {
  service = await startTestApp()
})
beforeEach(() => clearTrail(service))
afterAll(() => service.close())

const database = () => service.world.database.db
const verifierOn = (db: Queries) => ({ db, keys: [checkpointKey], macKey })
const verify = (limits = plenty, db: Queries = database().write) => runVerification(verifierOn(db), limits)
const findings = async () => (await readVerdict(database().read, macKey))?.findings
const grow = async (rows: number, chain = chainId): Promise<void> => {
  await appendRows(service, chain, rows)
  await sealAll(service)
}
const markOf = async (chain = chainId) =>
  (await readMarks(createQuery(database().write), macKey, [chain])).marks.find(({ pass }) => pass === 'new')

describe('what is new', () => {
  test('[audit-append.chain-status] is verified from the last verified row on, and an edit in it found at its row', async () => {
    await grow(30)
    await verify()
    await grow(30)
    await tamper(
      service,
      `update audit_logs set description = 'x' where chain_id = '${chainId}' and seq = 47`,
    )
    await verify()
    expect(await findings()).toEqual([`chain ${chainId} is broken at seq 47: row 47 was changed`])
    // Verification of the other chains continues.
    await grow(20, other)
    await verify()
    expect([(await markOf(other))?.seq, (await markOf())?.seq]).toEqual([20, 46])
    expect(await findings()).toHaveLength(1)
  })

  test('costs the same however many rows are verified already', async () => {
    let rowsRead = 0
    const counted = (database().read as Kysely<DB>).withPlugin({
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        rowsRead += result.rows.length
        return Promise.resolve(result)
      },
    })
    const costs: [number, number][] = []
    for (const old of [50, 1_500]) {
      await grow(old)
      await verify()
      await grow(10)
      rowsRead = 0
      service.statements.length = 0
      await verify({ newRows: 100_000, oldRows: 0 }, counted)
      costs.push([service.statements.length, rowsRead])
    }
    expect(costs[1]).toEqual(costs[0])
    expect(costs[0]?.[1]).toBeLessThan(20)
    expect(await findings()).toEqual([])
  })

  test('is bounded per run, may end inside a range, and goes on where the last process ended', async () => {
    await appendRows(service, chainId, 950)
    await grow(5, other)
    const seqs: (number | undefined)[] = []
    for (let run = 0; run < 12; run++) {
      await verify({ newRows: 100, oldRows: 0 })
      seqs.push((await markOf())?.seq)
    }
    expect(seqs).toEqual([100, 200, 300, 400, 500, 600, 700, 800, 900, 950, 950, 950])
    expect(await readVerdict(database().read, macKey)).toEqual({ checkpointSeq: 1, findings: [] })
  })
})

describe('what is old', () => {
  test('[audit-append.chain-status] is verified again, slice by slice, so an edit of a verified row is found', async () => {
    await grow(500)
    await grow(500)
    await verify({ newRows: 100_000, oldRows: 0 })
    await tamper(
      service,
      `update audit_logs set ip_address = '6.6.6.6' where chain_id = '${chainId}' and seq = 321`,
    )
    const slice = { newRows: 100_000, oldRows: 100 }
    for (let run = 0; run < 3; run++) await verify(slice)
    expect(await findings()).toEqual([])
    await verify(slice)
    expect(await findings()).toEqual([`chain ${chainId} is broken at seq 321: row 321 was changed`])
    // The finding remains even if the row is restored.
    await tamper(service, `update audit_logs set ip_address = '' where chain_id = '${chainId}' and seq = 321`)
    for (let run = 0; run < 15; run++) await verify(slice)
    expect(await findings()).toHaveLength(1)
  })

  test('is read round after round', async () => {
    await grow(40)
    for (let run = 0; run < 3; run++) await verify()
    expect((await readState(createQuery(database().write), macKey))?.round).toBe(4)
    await tamper(service, `delete from audit_logs where chain_id = '${chainId}' and seq > 35`)
    await verify()
    expect(await findings()).toEqual([
      `chain ${chainId} is broken at seq 36: rows are missing: the chain had rows up to 40`,
    ])
  })

  test('a head that refers to a checkpoint that does not exist, or to fewer rows, is found at the end of a round', async () => {
    await grow(5)
    await grow(5, other)
    await verify()
    await appendRows(service, chainId, 5)
    await service.sql.query('update audit_chains set checkpointed_seq = seq where chain_id = $1', [chainId])
    await service.sql.query('update audit_chains set seq = 3, checkpointed_seq = 3 where chain_id = $1', [
      other,
    ])
    await verify()
    expect(await findings()).toEqual([
      `chain ${chainId} is broken at seq 6: the chain's head refers to a checkpoint that does not exist`,
      `chain ${other} is broken at seq 4: the chain's head has a different row count: 3`,
    ])
  })

  test('a verified checkpoint that is gone is found, and so is one that seals another history', async () => {
    await grow(5)
    await grow(5)
    await verify()
    await tamper(
      service,
      `delete from audit_checkpoints where seq = 2; update audit_chains set checkpointed_seq = 5`,
    )
    await verify()
    expect(await findings()).toEqual(['checkpoint 2 was verified, but is missing or was replaced'])
  })

  test('a history that was rewritten and sealed once more is found', async () => {
    await grow(10)
    await database().transaction(async (tx) => {
      await sql`set local session_replication_role = replica`.execute(tx)
      await rewriteFrom(tx, chainId, 3)
      await sql`update audit_chains set checkpointed_seq = 0`.execute(tx)
    })
    expect((await sealAll(service))[0]?.heads).toMatchObject([{ seq: 10 }])
    await verify()
    expect(await findings()).toEqual([
      `chain ${chainId} is broken at seq 10: row 10 differs from the row that a checkpoint sealed`,
      `checkpoint 2 contradicts checkpoint 1 about row 10 of chain ${chainId}`,
    ])
  })
})

describe('marks that somebody wrote', () => {
  const mine = async (text: string): Promise<string[] | undefined> => {
    await service.sql.query(text)
    await verify()
    return findings()
  }

  test('a mark moved past rows that nobody verified is found, and those rows too', async () => {
    await grow(10)
    await verify()
    await grow(10)
    await tamper(service, `update audit_logs set action = 'x' where chain_id = '${chainId}' and seq = 15`)
    const found = await mine(
      `update audit_verified_chains v set seq = l.seq, hash = l.hash from audit_logs l
       where v.chain_id = l.chain_id and l.seq = 20 and v.pass = 'new'`,
    )
    expect(found).toEqual([
      `chain ${chainId} is broken at seq 15: row 15 was changed`,
      `the verification mark of chain ${chainId} was changed in the database`,
    ])
  })

  test('so is how far the checkpoints are verified', async () => {
    await grow(10)
    await verify()
    await grow(10)
    const found = await mine(
      'update audit_verification v set checkpoint_seq = c.seq, checkpoint_hash = c.hash from audit_checkpoints c where c.seq = 2',
    )
    expect(found).toEqual(['the verification state was changed in the database'])
    expect((await markOf())?.seq).toBe(20)
  })

  test('and a finding that was removed', async () => {
    await grow(10)
    await tamper(service, `update audit_logs set action = 'x' where chain_id = '${chainId}' and seq = 5`)
    await verify()
    const found = await mine('update audit_verified_chains set broken_seq = null, reason = null')
    expect(found?.[0]).toBe(`chain ${chainId} is broken at seq 5: row 5 was changed`)
  })

  test('deleted marks only cost work', async () => {
    await grow(10)
    await verify()
    expect(await mine('delete from audit_verified_chains; delete from audit_verification')).toEqual([])
    expect((await markOf())?.seq).toBe(10)
  })
})

describe('several processes', () => {
  test('at once do the work once', async () => {
    await grow(2_500)
    const worked = await Promise.all(Array.from({ length: 4 }, () => verify()))
    expect(worked.filter(Boolean)).toHaveLength(1)
    expect(await findings()).toEqual([])
  })

  test('take over from one that was killed, which then can write nothing', async () => {
    await grow(10)
    const query = createQuery(database().write)
    const dead = randomUUID()
    const state = await claimVerification(query, macKey, dead)
    expect(state).not.toBeNull()
    expect(await verify()).toBe(false)
    await service.sql.query("update audit_verification set leased_until = now() - interval '1 second'")
    expect(await verify()).toBe(true)
    const stale = { state: { ...state!, checkpoint: beforeCheckpoints }, marks: [] }
    expect(await saveVerification(query, macKey, dead, stale)).toBe(false)
    expect((await readState(query, macKey))?.checkpoint.seq).toBe(1)
  })

  test('are not kept away by a lease far in the future', async () => {
    await grow(10)
    await verify()
    await service.sql.query("update audit_verification set leased_until = '2100-01-01'")
    expect(await verify()).toBe(true)
  })
})

test('[audit-append.chain-status] 100 random tamperings are all found by one of the two passes, each at the right row', () =>
  expectPassesFindAll(service, chainId, 100))

test('what was found is forgotten with all marks or not at all', async () => {
  await grow(10)
  await tamper(service, 'update audit_logs set user_agent = $$x$$ where seq = 4')
  await verify()
  const found = [`chain ${chainId} is broken at seq 4: row 4 was changed`]
  expect(await findings()).toEqual(found)
  await service.sql
    .query(`create function refuse() returns trigger language plpgsql as $$begin raise 'refused'; end$$;
    create trigger refuse before delete on audit_verified_chains for each statement execute function refuse()`)
  await expect(clearFindings(database(), macKey)).rejects.toThrow('refused')
  expect(await findings()).toEqual(found)
  await service.sql.query('drop trigger refuse on audit_verified_chains')
  await clearFindings(database(), macKey)
  expect([await readVerdict(database().read, macKey), await markOf()]).toEqual([null, undefined])
})
