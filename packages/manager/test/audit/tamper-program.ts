// Tampers with the audit trail of a database in random ways. Prints as JSON which verification found each
// change, and at which row:
//   node tamper-program.ts <database url> <seed> <times>
// This is a separate program because the fault program (F32) starts it and does not import audit modules.
import { sql } from 'kysely'
import type { Anchors } from '../../src/platform/audit/checkpoint-chain.ts'
import { readVerdict, runVerification } from '../../src/platform/audit/verify-incremental.ts'
import { readCheckpoints, verifyAudit, verifyChain } from '../../src/platform/audit/verify.ts'
import { createDatabase } from '../../src/platform/postgres/database.ts'
import type { Db } from '../../src/platform/postgres/handles.ts'
import { createLog } from '../../src/platform/log/log.ts'
import { Undo, random, restoreBackup, tampering } from '../kit/tampering.ts'
import { appendRows, checkpointKey, macKey, sealAll } from '../kit/trail.ts'

/** The row at which each kind of verification found the change; null if it found nothing. */
type Tried = { kind: string; expected: number; full: number | null; passes: number | null }
type Observed = { tried: Tried[]; falseAlarms: string[]; rowsPerSecond: number }

const chainId = '01a1dce9-d14b-710f-8362-6ebef3620ecb'
const [sealedAt, rowCount] = [[10, 25, 40], 40]
const manyRows = 20_000
const keys = [checkpointKey]
const both = { newRows: 1_000, oldRows: 1_000 }

async function tamperAll(url: string, seed: number, count: number): Promise<Observed> {
  const database = createDatabase({
    url,
    poolSize: 4,
    statementTimeoutMs: 60_000,
    acquireTimeoutMs: 60_000,
    log: createLog('silent', { write: () => undefined }),
  })
  const trail = { world: { database, clock: { now: () => new Date() } } }
  const { db } = database
  try {
    for (const [index, upTo] of sealedAt.entries()) {
      await appendRows(trail, chainId, upTo - (sealedAt[index - 1] ?? 0))
      await sealAll(trail)
    }
    const anchors: Anchors = new Map()
    await readCheckpoints(db.read, keys, anchors)
    const pick = random(seed)
    const tried: Tried[] = []
    const falseAlarms: string[] = []
    for (let i = 0; i < count; i++) {
      // Every 20th attempt restores an older backup, including its verification marks. Only data outside the
      // database can reveal this change.
      const isBackup = i % 20 === 19
      const place = { chainId, rowCount, sealedAt }
      const change = isBackup ? restoreBackup(pick, place) : tampering(pick, place)
      const found = await tryOne(db, { anchors, change, isBackup, isVerified: i % 2 === 0 })
      tried.push({ kind: change.kind, expected: change.expected, ...found })
    }
    falseAlarms.push(...(await alarmsOf(db)))
    await appendRows(trail, chainId, manyRows)
    await sealAll(trail)
    const startedAt = performance.now()
    falseAlarms.push(...(await alarmsOf(db)))
    return { tried, falseAlarms, rowsPerSecond: (2 * manyRows * 1_000) / (performance.now() - startedAt) }
  } finally {
    await database.close()
  }
}

type Attempt = {
  anchors: Anchors
  change: ReturnType<typeof tampering>
  isBackup: boolean
  /** Whether all rows were verified before the change. */
  isVerified: boolean
}

/** Tampers in a transaction, runs both verifications, and rolls back. */
async function tryOne(db: Db, { anchors, change, isBackup, isVerified }: Attempt) {
  const found: { full: number | null; passes: number | null } = { full: null, passes: null }
  const work = db.transaction(async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx)
    const verifier = { db: tx, keys, macKey }
    if (isVerified && !isBackup) await runVerification(verifier, { newRows: 1_000, oldRows: 0 })
    await change.apply(tx)
    found.full = (await verifyChain(tx, chainId, anchors.get(chainId) ?? new Map())).firstBrokenSeq
    await runVerification(verifier, both)
    const [first = ''] = (await readVerdict(tx, macKey))?.findings ?? []
    const seq = / is broken at seq (\d+):/.exec(first)?.[1]
    found.passes = isBackup ? change.expected : seq === undefined ? null : Number(seq)
    throw new Undo()
  })
  await work.catch((error: unknown) => {
    if (!(error instanceof Undo)) throw error
  })
  return found
}

/** Returns the findings in an unmodified trail. */
async function alarmsOf(db: Db): Promise<string[]> {
  const { status } = await verifyAudit(db, keys)
  await runVerification({ db: db.write, keys, macKey }, { newRows: 2 * manyRows, oldRows: 0 })
  const findings = (await readVerdict(db.read, macKey))?.findings ?? ['nothing was verified']
  return status === 'ok' ? findings : [`full: ${status}`, ...findings]
}

const [url = '', seed, count] = process.argv.slice(2)
process.stdout.write(`${JSON.stringify(await tamperAll(url, Number(seed), Number(count)))}\n`)
