// Tampers randomly with the audit trail as a database superuser, and counts the changes that verification misses.
import { sql } from 'kysely'
import { expect } from 'vitest'
import type { Anchors } from '../../src/platform/audit/checkpoint-chain.ts'
import { readCheckpoints, verifyAudit, verifyChain } from '../../src/platform/audit/verify.ts'
import { readVerdict, runVerification } from '../../src/platform/audit/verify-incremental.ts'
import type { Db, Queries, Tx } from '../../src/platform/postgres/handles.ts'
import type { TestApp } from './app.ts'
import { Undo, random, tampering } from './tampering.ts'
import { appendRows, checkpointKey, macKey, sealAll } from './trail.ts'

const rowCount = 40
/** The row numbers at which checkpoints are created. */
const sealedAt = [10, 25, rowCount]

/** Appends a chain of 40 rows with three checkpoints. */
async function seedChain(service: TestApp, chainId: string): Promise<void> {
  let done = 0
  for (const sealed of sealedAt) {
    await appendRows(service, chainId, sealed - done)
    await sealAll(service)
    done = sealed
  }
}

/** Runs `work` with the triggers of the table disabled, as an attacker would, and rolls it back. */
async function rolledBack(db: Db, work: (tx: Tx) => Promise<void>): Promise<void> {
  const inside = db.transaction(async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx)
    await work(tx)
    throw new Undo()
  })
  await expect(inside).rejects.toThrow(Undo)
}

/** Tampers with one chain and verifies it completely in each round. Expects that every change is found at its row. */
export async function expectWholeVerificationFindsAll(
  service: TestApp,
  chainId: string,
  rounds: number,
): Promise<void> {
  await seedChain(service, chainId)
  const { db } = service.world.database
  const anchors: Anchors = new Map()
  await readCheckpoints(db.read, [checkpointKey], anchors)
  const sealed = anchors.get(chainId) ?? new Map<never, never>()
  expect([...sealed.keys()]).toEqual(sealedAt)
  const pick = random(20_261_115)
  const missed: string[] = []
  const kinds = new Map<string, number>()
  for (let round = 0; round < rounds; round++) {
    const { kind, expected, apply } = tampering(pick, { chainId, rowCount, sealedAt })
    const [family = ''] = kind.split(' ')
    kinds.set(family, (kinds.get(family) ?? 0) + 1)
    await rolledBack(db, async (tx) => {
      await apply(tx)
      const report = await verifyChain(tx, chainId, sealed)
      if (report.status !== 'broken' || report.firstBrokenSeq !== expected)
        missed.push(`${round} ${kind}: ${report.status} at ${report.firstBrokenSeq}, expected ${expected}`)
    })
  }
  const counts = [...kinds].map(([kind, count]) => `${kind}=${count}`).join(' ')
  process.stdout.write(`tamper detected=${rounds - missed.length}/${rounds} ${counts}\n`)
  expect(missed).toEqual([])
  expect(kinds.size).toBe(5)
  expect((await verifyAudit(db, [checkpointKey])).status).toBe('ok')
}

/**
 * Tampers with one chain. In every second round, its rows are verified first. Expects that the two
 * verification passes find all changes.
 */
export async function expectPassesFindAll(service: TestApp, chainId: string, rounds: number): Promise<void> {
  await seedChain(service, chainId)
  const { db } = service.world.database
  const verify = (on: Queries, oldRows: number) =>
    runVerification({ db: on, keys: [checkpointKey], macKey }, { newRows: 1_000, oldRows })
  const findings = async (on: Queries) => (await readVerdict(on, macKey))?.findings
  const pick = random(20_261_116)
  const missed: string[] = []
  for (let round = 0; round < rounds; round++) {
    const { kind, expected, apply } = tampering(pick, { chainId, rowCount, sealedAt })
    await rolledBack(db, async (tx) => {
      if (round % 2 === 0) await verify(tx, 0)
      await apply(tx)
      await verify(tx, 1_000)
      const [found = 'nothing'] = (await findings(tx)) ?? []
      if (!found.startsWith(`chain ${chainId} is broken at seq ${expected}:`))
        missed.push(`${round} ${kind}: ${found}, expected ${expected}`)
    })
  }
  process.stdout.write(`tamper incremental detected=${rounds - missed.length}/${rounds}\n`)
  expect(missed).toEqual([])
  await verify(db.write, 1_000)
  expect(await findings(db.write)).toEqual([])
}
