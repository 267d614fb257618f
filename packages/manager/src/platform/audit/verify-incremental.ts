// Verification that goes on from where it ended: from checkpoint to checkpoint, and in each chain from the last verified row
// to the one that the checkpoint sealed. A second pass reads everything again, a slice at a time, because an edit of a row
// that was verified before is not new. Any number of processes may run it: one at a time works, for as long as its lease lasts.
import { type KeyObject, randomUUID } from 'node:crypto'
import type { Db } from '../db/database.ts'
import type { Checkpoint } from './checkpoint.ts'
import {
  type Anchors,
  type CheckpointKey,
  type CheckpointPosition,
  addAnchors,
  beforeCheckpoints,
  checkLink,
  checkSeal,
  readCheckpointRange,
} from './checkpoint-chain.ts'
import { genesisHash } from './entry.ts'
import { type Query, type Seal, type Walk, findChangedSeals, queryOf, walkChains } from './rows.ts'
import {
  type Mark,
  type Pass,
  type VerificationState,
  claimVerification,
  forgetVerification,
  listBroken,
  readMarks,
  readState,
  releaseVerification,
  saveVerification,
} from './verification-marks.ts'

export type Verifier = { db: Db; keys: readonly CheckpointKey[]; macKey: KeyObject }
/** How much one run may do, in rows; a checkpoint counts as ten, and each head in it as one. */
export type VerifyLimits = { newRows: number; oldRows: number }

type Run = Omit<Verifier, 'db'> & {
  query: Query
  leaseId: string
  state: VerificationState
  signal: AbortSignal | undefined
}

const checkpointBatch = 50
const checkpointCost = 10
/** Rows between two saves: a process that is killed loses no more than that. */
const saveEvery = 10_000

/** Verifies what is new, then a slice of what is old; returns false when another process is at it. */
export async function verifyOn(
  { db, keys, macKey }: Verifier,
  limits: VerifyLimits,
  signal?: AbortSignal,
): Promise<boolean> {
  const [query, leaseId] = [queryOf(db), randomUUID()]
  const state = await claimVerification(query, macKey, leaseId)
  if (state === null) return false
  const run: Run = { keys, macKey, query, leaseId, state, signal }
  try {
    await advance(run, 'new', limits.newRows)
    await advance(run, 'again', limits.oldRows)
  } catch (error) {
    if (error instanceof LostLease) return false
    throw error
  } finally {
    await releaseVerification(query, leaseId)
  }
  return true
}

export type Verdict = {
  /** Up to this checkpoint everything has been read. */
  checkpointSeq: number
  /** What is broken, in sentences that tell findings apart. */
  findings: string[]
}

/** What has been found so far, by whichever process; null when none has verified anything. */
export async function readVerdict(db: Db, macKey: KeyObject): Promise<Verdict | null> {
  const query = queryOf(db)
  const state = await readState(query, macKey)
  if (state === null) return null
  const { marks, forged } = await listBroken(query, macKey)
  const findings = marks.flatMap(({ chainId, broken }) =>
    broken === null ? [] : [`chain ${chainId} is broken at seq ${broken.seq}: ${broken.reason}`],
  )
  findings.push(...forged.map(forgedMark))
  if (state.problem !== null) findings.push(state.problem)
  return { checkpointSeq: state.checkpoint.seq, findings }
}

/** Forgets what was found, because everything was found whole since; then verification begins at the first row again. */
export async function clearFindings(db: Db, macKey: KeyObject): Promise<void> {
  const verdict = await readVerdict(db, macKey)
  if (verdict === null || verdict.findings.length === 0) return
  await db.transaction().execute((tx) => forgetVerification(queryOf(tx)))
}

/** What is said about a chain whose mark somebody wrote. */
export const forgedMark = (chainId: string): string =>
  `how far chain ${chainId} is verified was changed in the database`

/** Whoever took over goes on from what was saved. */
class LostLease extends Error {}

async function save({ query, macKey, leaseId, state }: Run, marks: readonly Mark[]): Promise<void> {
  if (!(await saveVerification(query, macKey, leaseId, { state, marks })))
    throw new LostLease('another process verifies the audit trail now')
}

async function advance(run: Run, pass: Pass, rows: number): Promise<void> {
  const { query, state, keys } = run
  for (let left = rows; left > 0 && run.signal?.aborted !== true;) {
    const from = pass === 'new' ? state.checkpoint : state.roundCheckpoint
    // The one that was verified last is read too, whether it is still there.
    const to = pass === 'new' ? Number.MAX_SAFE_INTEGER : state.checkpoint.seq
    const read = await readCheckpointRange(query, { from: Math.max(1, from.seq), to }, checkpointBatch + 1)
    if (from.seq > 0 && read.shift()?.hash !== from.hash) {
      state.problem ??= `checkpoint ${from.seq} was verified, and is missing or another one now`
      moveTo(state, pass, beforeCheckpoints)
      await save(run, [])
      continue
    }
    const last = read.at(-1)
    if (last === undefined) return pass === 'again' ? endRound(run) : undefined
    const anchors: Anchors = new Map()
    const problem = checkBatch(read, from, { keys, anchors })
    state.problem ??= problem
    const walked = await walkBatch(run, pass, { anchors, rows: left })
    const heads = read.reduce((sum, checkpoint) => sum + checkpoint.heads.length, 0)
    left -= walked.rows + read.length * checkpointCost + heads
    if (!walked.isWhole) return
    moveTo(state, pass, { seq: last.seq, hash: last.hash })
    await save(run, [])
  }
}

function moveTo(state: VerificationState, pass: Pass, position: CheckpointPosition): void {
  if (pass === 'new') state.checkpoint = position
  else state.roundCheckpoint = position
}

type Rules = { keys: readonly CheckpointKey[]; anchors: Anchors }

/** Checks checkpoints that follow each other; those that are well-signed become anchors. */
function checkBatch(
  checkpoints: readonly Checkpoint[],
  from: CheckpointPosition,
  { keys, anchors }: Rules,
): string | null {
  let problem: string | null = null
  let previous = from
  for (const checkpoint of checkpoints) {
    const { seq, hash } = checkpoint
    const seal = checkSeal(checkpoint, keys)
    const contradiction = seal === null ? addAnchors(anchors, checkpoint) : `checkpoint ${seq} ${seal}`
    problem ??= checkLink(checkpoint, previous) ?? contradiction
    if (keys.some(({ last }) => last?.seq === seq && last.hash !== hash))
      problem ??= `checkpoint ${seq} is not the last one that a former key signed`
    previous = { seq, hash }
  }
  return problem
}

type SealedWalk = Omit<Walk, 'sealed'> & { sealed: ReadonlyMap<number, Seal> }
type Started = { walk: SealedWalk; verdict: Mark | undefined; mark: Mark | undefined }

/** Walks the chains that the anchors name up to them, as far as `rows` allow. */
async function walkBatch(
  run: Run,
  pass: Pass,
  { anchors, rows }: { anchors: Anchors; rows: number },
): Promise<{ isWhole: boolean; rows: number }> {
  const started = await startWalks(run, pass, anchors)
  const walks = started.map(({ walk }) => walk)
  const seqs = new Map(walks.map((walk) => [walk, walk.state.seq]))
  let taken = 0
  for (;;) {
    const more = await walkChains(run.query, walks, Math.min(saveEvery, rows - taken))
    taken += more
    const moved = started.filter(({ walk }) => walk.broken !== null || walk.state.seq !== seqs.get(walk))
    await save(
      run,
      moved.flatMap((one) => marksAfter(run, pass, one, anchors)),
    )
    for (const walk of walks) seqs.set(walk, walk.state.seq)
    const isWhole = walks.every(({ broken, state, to }) => broken !== null || state.seq >= to)
    if (isWhole || more === 0 || taken >= rows || run.signal?.aborted === true)
      return { isWhole, rows: taken }
  }
}

/** Where each chain stands; a chain that is known to be broken is left alone. */
async function startWalks({ query, macKey, state }: Run, pass: Pass, anchors: Anchors): Promise<Started[]> {
  const { marks, forged } = await readMarks(query, macKey, [...anchors.keys()])
  const [firstForged] = forged
  if (firstForged !== undefined) state.problem ??= forgedMark(firstForged)
  const byPass = (wanted: Pass, round: number) =>
    new Map(
      marks.flatMap((mark) =>
        mark.pass === wanted && mark.round === round ? [[mark.chainId, mark] as const] : [],
      ),
    )
  const verdicts = byPass('new', 0)
  const own = pass === 'new' ? verdicts : byPass('again', state.round)
  const started: Started[] = []
  for (const [chainId, sealed] of anchors) {
    const [verdict, mark] = [verdicts.get(chainId), own.get(chainId)]
    if (verdict !== undefined && verdict.broken !== null) continue
    const place = { seq: mark?.seq ?? 0, hash: mark?.hash ?? genesisHash }
    const to = [...sealed.keys()].reduce((most, seq) => Math.max(most, seq), 0)
    started.push({ verdict, mark, walk: { chainId, state: place, to, sealed, broken: null } })
  }
  // What was sealed before the mark is not walked over again.
  const before = started.flatMap(({ walk: { chainId, state: place, sealed } }) =>
    [...sealed.values()].flatMap(({ seq, hash }) => (seq <= place.seq ? [{ chainId, seq, hash }] : [])),
  )
  const walks = new Map(started.map(({ walk }) => [walk.chainId, walk]))
  for (const { chainId, broken } of await findChangedSeals(query, before)) {
    const walk = walks.get(chainId)
    // The mark stood on that row, so nothing is left that is known to be right.
    if (walk?.broken === null) Object.assign(walk, { broken, state: { seq: 0, hash: genesisHash } })
  }
  return started
}

/** What is noted after a chain moved or broke. */
function marksAfter({ state }: Run, pass: Pass, { walk, verdict, mark }: Started, anchors: Anchors): Mark[] {
  const { chainId, broken } = walk
  const seals = [...(anchors.get(chainId)?.values() ?? [])].filter(({ seq }) => seq <= walk.state.seq)
  const sealedBy = seals.reduce((most, { checkpoint }) => Math.max(most, checkpoint.seq), 0)
  const place = { chainId, seq: walk.state.seq, hash: walk.state.hash }
  const first: Mark = { ...place, pass: 'new', round: 0, checkpointSeq: verdict?.checkpointSeq ?? 0, broken }
  if (pass === 'new') return [{ ...first, checkpointSeq: Math.max(sealedBy, first.checkpointSeq) }]
  const again: Mark = {
    ...place,
    pass: 'again',
    round: state.round,
    checkpointSeq: Math.max(sealedBy, mark?.checkpointSeq ?? 0),
    broken: null,
  }
  return broken === null ? [again] : [again, first]
}

/** Everything was read again: what the heads of the chains claim is compared once, and the next round begins. */
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
  const found = rows.map(({ chainId, seq, verified, claims }): Mark => {
    const mark = marks.find((one) => one.chainId === chainId && one.pass === 'new')
    const [head, place] = [Number(seq ?? 0), { seq: mark?.seq ?? 0, hash: mark?.hash ?? genesisHash }]
    const broken = claims
      ? { seq: Number(verified ?? 0) + 1, reason: "the chain's head claims a checkpoint that there is not" }
      : head < Number(verified ?? 0)
        ? { seq: head + 1, reason: `the chain's head says ${head} rows` }
        : { seq: head, reason: "the chain's head has another hash" }
    return { ...place, pass: 'new', chainId, round: 0, checkpointSeq: mark?.checkpointSeq ?? 0, broken }
  })
  state.round++
  state.roundCheckpoint = beforeCheckpoints
  await save(run, found)
}
