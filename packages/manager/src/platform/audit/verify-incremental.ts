// Verifies incrementally: from checkpoint to checkpoint, and in each chain from the last verified row to the last row
// that a checkpoint covers. A second pass reads all rows again, one slice at a time, to find edits to rows that were
// already verified. Any number of processes may run it: a lease allows only one of them to work at a time.
import { type KeyObject, randomUUID } from 'node:crypto'
import type { Db, Queries, Reads } from '../postgres/handles.ts'
import {
  type Anchors,
  type CheckpointKey,
  type CheckpointPosition,
  beforeCheckpoints,
} from './checkpoint-chain.ts'
import { genesisHash } from './entry.ts'
import { type Query, type Seal, createQuery } from './rows.ts'
import {
  type Mark,
  type Pass,
  type VerificationState,
  claimVerification,
  resetVerification,
  describeForgedMark,
  listBrokenMarks,
  readMarks,
  readState,
  releaseVerification,
  saveVerification,
} from './verification-marks.ts'
import { type Start, type Walk, isDone, findLastSealedSeq, createWalk, walkTrail } from './walker.ts'

/** Dependencies of a run. `db` may retry a lost statement: saving twice under the same lease is idempotent. */
export type VerificationContext = { db: Queries; keys: readonly CheckpointKey[]; macKey: KeyObject }
/** Limits of one run, in rows. A checkpoint counts as ten rows, and each head in it as one row. */
export type VerifyLimits = { newRows: number; oldRows: number }

type Run = Omit<VerificationContext, 'db'> & {
  query: Query
  leaseId: string
  state: VerificationState
  signal: AbortSignal | undefined
}

const maxCheckpoints = 50
const checkpointCost = 10
/** Number of rows between two saves: a killed process loses at most this much work. */
const rowsPerSave = 10_000

/** Verifies new rows, then a slice of the old rows; returns false if another process holds the lease. */
export async function runVerification(
  { db, keys, macKey }: VerificationContext,
  limits: VerifyLimits,
  signal?: AbortSignal,
): Promise<boolean> {
  const [query, leaseId] = [createQuery(db), randomUUID()]
  const state = await claimVerification(query, macKey, leaseId)
  if (state === null) return false
  const run: Run = { keys, macKey, query, leaseId, state, signal }
  try {
    await advance(run, 'new', limits.newRows)
    await advance(run, 'again', limits.oldRows)
  } catch (error) {
    if (error instanceof LeaseLostError) return false
    throw error
  } finally {
    await releaseVerification(query, leaseId)
  }
  return true
}

/** Result of the verification so far. */
export type Verdict = {
  /** Everything up to this checkpoint has been read. */
  checkpointSeq: number
  /** One sentence for each finding; the text is unique to the finding. */
  findings: string[]
}

/** Returns the findings of all processes so far; null before the first run. */
export async function readVerdict(db: Reads, macKey: KeyObject): Promise<Verdict | null> {
  const query = createQuery(db)
  const state = await readState(query, macKey)
  if (state === null) return null
  const { marks, forgedChainIds } = await listBrokenMarks(query, macKey)
  const findings = marks.flatMap(({ chainId, broken }) =>
    broken === null ? [] : [`chain ${chainId} is broken at seq ${broken.seq}: ${broken.reason}`],
  )
  findings.push(...forgedChainIds.map(describeForgedMark))
  if (state.problem !== null) findings.push(state.problem)
  return { checkpointSeq: state.checkpoint.seq, findings }
}

/**
 * Clears all findings after a full verification found no problem. The next run starts at the first row again.
 */
export async function clearFindings(db: Db, macKey: KeyObject): Promise<void> {
  const verdict = await readVerdict(db.read, macKey)
  if (verdict === null || verdict.findings.length === 0) return
  await db.transaction((tx) => resetVerification(createQuery(tx)))
}

/** Another process has taken the lease and continues from the last save. */
class LeaseLostError extends Error {}

async function save({ query, macKey, leaseId, state }: Run, marks: readonly Mark[]): Promise<void> {
  if (!(await saveVerification(query, macKey, leaseId, { state, marks })))
    throw new LeaseLostError('another process holds the verification lease')
}

async function advance(run: Run, pass: Pass, maxRows: number): Promise<void> {
  const { state } = run
  const key = pass === 'new' ? 'checkpoint' : 'roundCheckpoint'
  for (let remainingRows = maxRows; remainingRows > 0 && run.signal?.aborted !== true;) {
    const from = state[key]
    const batch = { last: beforeCheckpoints, isComplete: true, cost: 0, unsaved: 0 }
    const start: Start<MarkedWalk> = {
      checkpoint: from,
      lastCheckpoint: pass === 'new' ? Number.MAX_SAFE_INTEGER : state.checkpoint.seq,
      maxCheckpoints,
      checkCheckpoint: (checkpoint) => checkRetiredKeys(checkpoint, run.keys),
      maxRows: remainingRows,
      signal: run.signal,
      onRows: async (rows, walks) => {
        batch.cost += rows
        batch.unsaved += rows
        if (batch.unsaved < rowsPerSave) return
        batch.unsaved = 0
        await saveChangedWalks(run, pass, walks)
      },
    }
    await walkTrail<MarkedWalk>(run, start, async function* (seals) {
      if (!seals.isStartUnchanged) {
        state.problem ??= `checkpoint ${from.seq} was verified, but is missing or was replaced`
        return
      }
      batch.last = seals.last
      if (seals.last === from) return
      state.problem ??= seals.problem
      const walks = await listWalks(run, pass, seals.anchors)
      yield walks
      await saveChangedWalks(run, pass, walks)
      batch.cost += seals.hashes.size * checkpointCost + seals.heads
      batch.isComplete = walks.every(isDone)
    })
    if (batch.last === from) return pass === 'again' ? endRound(run) : undefined
    if (!batch.isComplete) return
    remainingRows -= batch.cost
    state[key] = batch.last
    await save(run, [])
  }
}

/** A retired key is valid only for the history up to the last checkpoint that it signed. */
const checkRetiredKeys = (
  { seq, hash }: CheckpointPosition,
  keys: readonly CheckpointKey[],
): string | null =>
  keys.some(({ last }) => last?.seq === seq && last.hash !== hash)
    ? `checkpoint ${seq} is not the last checkpoint that a retired key signed`
    : null

/**
 * A walk from the mark of its pass to the last row that a checkpoint covers; `verdict` is the mark of the pass `new`.
 */
type MarkedWalk = Walk & {
  seals: readonly Seal[]
  savedSeq: number
  verdict: Mark | undefined
  mark: Mark | undefined
}

async function listWalks({ query, macKey, state }: Run, pass: Pass, anchors: Anchors): Promise<MarkedWalk[]> {
  const { marks, forgedChainIds } = await readMarks(query, macKey, [...anchors.keys()])
  const [firstForgedChainId] = forgedChainIds
  if (firstForgedChainId !== undefined) state.problem ??= describeForgedMark(firstForgedChainId)
  const groupByChain = (markPass: Pass, round: number) =>
    new Map(
      marks.flatMap((mark) =>
        mark.pass === markPass && mark.round === round ? [[mark.chainId, mark] as const] : [],
      ),
    )
  const verdicts = groupByChain('new', 0)
  const ownMarks = pass === 'new' ? verdicts : groupByChain('again', state.round)
  return [...anchors].flatMap(([chainId, sealed]): MarkedWalk[] => {
    const [verdict, mark] = [verdicts.get(chainId), ownMarks.get(chainId)]
    // A chain that is known to be broken is not verified further.
    if (verdict !== undefined && verdict.broken !== null) return []
    const walk = createWalk(mark, { chainId, to: findLastSealedSeq(sealed), sealed, head: undefined })
    return [{ ...walk, seals: [...sealed.values()], savedSeq: walk.fromSeq, verdict, mark }]
  })
}

/** Saves the walks that advanced or found a broken row since the last save. */
async function saveChangedWalks(run: Run, pass: Pass, walks: readonly MarkedWalk[]): Promise<void> {
  const changedWalks = walks.filter(
    ({ broken, state, savedSeq }) => broken !== null || state.seq !== savedSeq,
  )
  await save(
    run,
    changedWalks.flatMap((walk) => createMarks(run, pass, walk)),
  )
  for (const walk of changedWalks) walk.savedSeq = walk.state.seq
}

function createMarks({ state }: Run, pass: Pass, walk: MarkedWalk): Mark[] {
  const { chainId, broken, verdict, mark, fromSeq, seals } = walk
  // If a row before the mark was changed, no position in the chain is trusted.
  const isUntrusted = broken !== null && broken.seq <= fromSeq
  const { seq, hash } = isUntrusted ? { seq: 0, hash: genesisHash } : walk.state
  const coveringSeq = seals.reduce(
    (max, seal) => (seal.seq <= seq ? Math.max(max, seal.checkpoint.seq) : max),
    0,
  )
  const position = { chainId, seq, hash }
  const newMark: Mark = {
    ...position,
    pass: 'new',
    round: 0,
    checkpointSeq: verdict?.checkpointSeq ?? 0,
    broken,
  }
  if (pass === 'new') return [{ ...newMark, checkpointSeq: Math.max(coveringSeq, newMark.checkpointSeq) }]
  const checkpointSeq = Math.max(coveringSeq, mark?.checkpointSeq ?? 0)
  const againMark: Mark = { ...position, pass: 'again', round: state.round, checkpointSeq, broken: null }
  return broken === null ? [againMark] : [againMark, newMark]
}

/** Compares the chain heads after a complete second pass, and starts the next round. */
async function endRound(run: Run): Promise<void> {
  const { query, state } = run
  type Row = { chainId: string; seq: string | null; verified: string | null; claims: boolean }
  const rows = await query<Row>(
    `select chain_id as "chainId", c.seq, v.seq as verified, c.checkpointed_seq > coalesce(v.seq, 0) as claims
     from audit_chains c full join (select * from audit_verified_chains where pass = 'new') v using (chain_id)
     where (select coalesce(max(seq), 0) from audit_checkpoints) = $1 and v.broken_seq is null
       and (c.seq is null or c.seq < v.seq or c.checkpointed_seq > coalesce(v.seq, 0) or (c.seq = v.seq and c.hash <> v.hash))
     order by chain_id limit 100`,
    [state.checkpoint.seq],
  )
  const { marks } = await readMarks(
    query,
    run.macKey,
    rows.map(({ chainId }) => chainId),
  )
  const brokenMarks = rows.map(({ chainId, seq, verified, claims }): Mark => {
    const mark = marks.find((candidate) => candidate.chainId === chainId && candidate.pass === 'new')
    const [head, position] = [Number(seq ?? 0), { seq: mark?.seq ?? 0, hash: mark?.hash ?? genesisHash }]
    const brokenRow = claims
      ? {
          seq: Number(verified ?? 0) + 1,
          reason: "the chain's head refers to a checkpoint that does not exist",
        }
      : head < Number(verified ?? 0)
        ? { seq: head + 1, reason: `the chain's head has a different row count: ${head}` }
        : { seq: head, reason: "the chain's head has a different hash" }
    return {
      ...position,
      pass: 'new',
      chainId,
      round: 0,
      checkpointSeq: mark?.checkpointSeq ?? 0,
      broken: brokenRow,
    }
  })
  state.round++
  state.roundCheckpoint = beforeCheckpoints
  await save(run, brokenMarks)
}
