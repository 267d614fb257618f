// F32: somebody who owns the database tampers with the audit trail, a thousand times in random ways. Full verification against
// checkpoints that were kept outside, and the two passes of the service, have to find each, at the right row.
import { sql } from 'kysely'
import type { Anchors } from '../../src/platform/audit/checkpoint-chain.ts'
import { readVerdict, verifyOn } from '../../src/platform/audit/verify-incremental.ts'
import { readCheckpoints, verifyAudit, verifyChain } from '../../src/platform/audit/verify.ts'
import { type Db, createDatabase } from '../../src/platform/db/database.ts'
import { createLog } from '../../src/platform/log/log.ts'
import { Undo, random, restoreBackup, tampering } from '../../test/kit/tampering.ts'
import { appendRows, checkpointKey, macKey, sealAll } from '../../test/kit/trail.ts'
import { type Base, openBase } from '../base.ts'
import { type Mutant, type Row, playedOn } from '../row.ts'
import { bySize } from '../schedule.ts'
import { createVerdict } from '../verdict.ts'

/** The rows at which each way of verification found it; null when it did not, or is not meant to. */
type Tried = { kind: string; expected: number; full: number | null; passes: number | null }
type Observed = { tried: Tried[]; falseAlarms: string[]; rowsPerSecond: number }

const chainId = '01a1dce9-d14b-710f-8362-6ebef3620ecb'
const [sealedAt, rowCount] = [[10, 25, 40], 40]
const manyRows = 20_000
const keys = [checkpointKey]
const both = { newRows: 1_000, oldRows: 1_000 }

async function observe({ cluster, options, say }: Base): Promise<Observed> {
  const database = createDatabase({
    url: cluster.sql.options.connectionString ?? '',
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
    await readCheckpoints(db, keys, anchors)
    const pick = random(options.seed)
    const tried: Tried[] = []
    const falseAlarms: string[] = []
    const count = bySize(options, 1_000, 100)
    say(`tampering ${count} times`)
    for (let i = 0; i < count; i++) {
      // Every twentieth is a backup from before, whose marks are those of then: only what was kept outside tells.
      const isBackup = i % 20 === 19
      const place = { chainId, rowCount, sealedAt }
      const change = isBackup ? restoreBackup(pick, place) : tampering(pick, place)
      const found = await tryOne(db, { anchors, change, isBackup, isVerified: i % 2 === 0 })
      tried.push({ kind: change.kind, expected: change.expected, ...found })
    }
    falseAlarms.push(...(await alarmsOf(db)))
    await appendRows(trail, chainId, manyRows)
    await sealAll(trail)
    const began = performance.now()
    falseAlarms.push(...(await alarmsOf(db)))
    return { tried, falseAlarms, rowsPerSecond: (2 * manyRows * 1_000) / (performance.now() - began) }
  } finally {
    await database.close()
  }
}

type Attempt = {
  anchors: Anchors
  change: ReturnType<typeof tampering>
  isBackup: boolean
  /** Whether the service had verified everything before. */
  isVerified: boolean
}

/** Tampers in a transaction, looks who finds it, and takes it back. */
async function tryOne(db: Db, { anchors, change, isBackup, isVerified }: Attempt) {
  const found: { full: number | null; passes: number | null } = { full: null, passes: null }
  const work = db.transaction().execute(async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx)
    const verifier = { db: tx, keys, macKey }
    if (isVerified && !isBackup) await verifyOn(verifier, { newRows: 1_000, oldRows: 0 })
    await change.apply(tx)
    found.full = (await verifyChain(tx, chainId, anchors.get(chainId) ?? new Map())).firstBrokenSeq
    await verifyOn(verifier, both)
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

/** What is found in a trail that nobody touched. */
async function alarmsOf(db: Db): Promise<string[]> {
  const { status } = await verifyAudit(db, keys)
  await verifyOn({ db, keys, macKey }, { newRows: 2 * manyRows, oldRows: 0 })
  const findings = (await readVerdict(db, macKey))?.findings ?? ['nothing was verified']
  return status === 'ok' ? findings : [`full: ${status}`, ...findings]
}

const texts = (some: readonly Tried[]): string[] => some.map((one) => JSON.stringify(one))
const isMissed = ({ full, passes }: Tried): boolean => full === null || passes === null

function judge({ tried, falseAlarms, rowsPerSecond }: Observed) {
  const figures = createVerdict()
  const missed = tried.filter(isMissed)
  const isMisplaced = (one: Tried): boolean =>
    !isMissed(one) && (one.full !== one.expected || one.passes !== one.expected)
  figures.show('detected', `${tried.length - missed.length}/${tried.length}`)
  figures.none('missed', texts(missed))
  figures.none('misplaced', texts(tried.filter(isMisplaced)))
  figures.none('false_alarms', falseAlarms)
  figures.show('verify_rows_s', Math.round(rowsPerSecond))
  return figures.verdict
}

const planted = (name: string, breaks: string, found: Partial<Tried>): Mutant<Observed> => ({
  name,
  breaks,
  plant: (observed) => ({
    ...observed,
    tried: observed.tried.map((one, index) => (index === 7 ? { ...one, ...found } : one)),
  }),
})

export const f32: Row = playedOn<Observed, Base, object>(
  (_setup, options, say) => openBase({ replicas: 0 }, options, say, () => Promise.resolve({})),
  {
    id: 'F32',
    title: 'a thousand random tamperings with the audit trail, as superuser',
    setup: () => ({}),
    limitSeconds: 600,
    observe,
    judge,
    mutants: [
      planted('full verification finds nothing', 'missed', { full: null }),
      planted('the passes find nothing', 'missed', { passes: null }),
      planted('another row is named', 'misplaced', { passes: 41 }),
      {
        name: 'something is found where nothing is',
        breaks: 'false_alarms',
        plant: (observed) => ({ ...observed, falseAlarms: ['x'] }),
      },
    ],
  },
)
