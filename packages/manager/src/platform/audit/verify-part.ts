// Verifies one chain on request, part by part, with the walker of the verification job. Every part is linked by hashes
// to the row before it. The position that the job has verified and newer checkpoints are compared too, so a chain with
// recomputed hashes is detected.
import type { KeyObject } from 'node:crypto'
import { badRequest } from '../errors.ts'
import type { Snapshot } from '../postgres/snapshots.ts'
import type { Anchors, CheckpointKey } from './checkpoint-chain.ts'
import { type BrokenRow, type ChainHead, type Position, type Query, type Seal, readHeads } from './rows.ts'
import { type Mark, createInitialState, readMarks, readState } from './verification-marks.ts'
import { type Seals, type Walk, createWalk, findLastSealedSeq, isDone, walkTrail } from './walker.ts'

/** The verdict on the rows `fromSeq` to `toSeq` of a chain. */
export type PartReport = {
  status: 'ok' | 'broken' | 'empty'
  /** Number of rows in the chain. */
  entries: number
  fromSeq: number
  /** The last verified row; `fromSeq - 1` if no row was verified. */
  toSeq: number
  /** False if rows after `toSeq` remain to be verified. */
  isComplete: boolean
  firstBrokenSeq: number | null
  reason: string | null
  /** Hash of the row `toSeq`, in hexadecimal. */
  headHash: string | null
}

export type PartLimits = { rows: number; checkpoints: number; ms: number }
type Options = {
  keys: readonly CheckpointKey[]
  macKey: KeyObject
  limits: PartLimits
  /** The first row to verify. The rows before it were verified by earlier calls. */
  fromSeq: number
}

/** Verifies rows from `fromSeq` to the end of the chain, as far as the limits allow. */
export async function verifyChainPart(
  snapshot: Pick<Snapshot, 'query'>,
  chainId: string,
  { keys, macKey, limits, fromSeq }: Options,
): Promise<PartReport> {
  const query: Query = (text, values) => snapshot.query(text, values)
  const state = (await readState(query, macKey)) ?? createInitialState()
  const head = (await readHeads(query, [chainId])).get(chainId) ?? null
  const { marks, forgedChainIds } = await readMarks(query, macKey, [chainId], ['new'])
  if (fromSeq > Math.max(head?.seq ?? 0, marks[0]?.seq ?? 0) + 1)
    throw badRequest(`fromSeq must be at most ${(head?.seq ?? 0) + 1}, the number after the last row`)
  const start = {
    checkpoint: state.checkpoint,
    maxCheckpoints: limits.checkpoints,
    maxRows: limits.rows,
    signal: AbortSignal.timeout(limits.ms),
  }
  const walks: Walk[] = []
  const seals = await walkTrail<Walk>({ query, keys }, start, async function* ({ anchors }) {
    const position = fromSeq === 1 ? undefined : await readPosition(query, chainId, fromSeq - 1)
    const walk = createPartWalk({ chainId, head, mark: marks[0], anchors }, position)
    if (position === null) walk.broken ??= { seq: fromSeq - 1, reason: `row ${fromSeq - 1} is missing` }
    if (forgedChainIds.length > 0)
      walk.broken = { seq: 0, reason: 'the verification mark of the chain was changed in the database' }
    walks.push(walk)
    yield [walk]
  })
  const [walk] = walks
  if (walk === undefined) throw new Error('expected exactly one chain')
  return reportPart(walk, fromSeq, state.problem === null ? seals : { ...seals, problem: state.problem })
}

type PartChain = { chainId: string; head: ChainHead | null; mark: Mark | undefined; anchors: Anchors }

/** Creates the walk. A problem that the verification job has found is reported without reading the rows again. */
function createPartWalk({ chainId, head, mark, anchors }: PartChain, position: Position | null | undefined) {
  const sealsBySeq = new Map<number, Pick<Seal, 'seq' | 'hash'>>(anchors.get(chainId))
  if (mark !== undefined && mark.seq > 0)
    sealsBySeq.set(mark.seq, { seq: mark.seq, hash: mark.hash.toString('hex') })
  const to = Math.max(head?.seq ?? 0, findLastSealedSeq(sealsBySeq))
  return {
    ...createWalk(position ?? undefined, { chainId, sealed: sealsBySeq, head, to }),
    broken: mark?.broken ?? null,
  }
}

/** Returns the stored row at which a part starts, or null if the row is missing. */
async function readPosition(query: Query, chainId: string, seq: number): Promise<Position | null> {
  const rows = await query<{ hash: Buffer }>('select hash from audit_logs where chain_id = $1 and seq = $2', [
    chainId,
    seq,
  ])
  return rows[0] === undefined ? null : { seq, hash: rows[0].hash }
}

// This fixed text replaces the actual problem, which can name another project's chain.
export const trailProblem =
  'a checkpoint or the verification state was changed; ask an operator to run `manager audit verify`'

function reportPart(walk: Walk, fromSeq: number, { problem, isComplete }: Seals): PartReport {
  const { state, to } = walk
  const broken: BrokenRow | null = walk.broken ?? (problem === null ? null : { seq: 0, reason: trailProblem })
  const hasRows = state.seq >= fromSeq
  return {
    status: broken !== null ? 'broken' : to === 0 ? 'empty' : 'ok',
    entries: to,
    fromSeq,
    toSeq: Math.max(state.seq, fromSeq - 1),
    isComplete: broken !== null || isDone(walk),
    firstBrokenSeq: broken === null || broken.seq === 0 ? null : broken.seq,
    reason: broken?.reason ?? (isComplete ? null : 'the newest checkpoints were not compared yet'),
    headHash: hasRows ? state.hash.toString('hex') : null,
  }
}
