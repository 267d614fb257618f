// The only code that traverses the audit trail: first the checkpoints after a starting checkpoint, then each chain
// after its last verified row. Full verification, the verification job and the chain status differ only in where they
// start and how they report.
import { setImmediate } from 'node:timers/promises'
import type { Checkpoint } from './checkpoint.ts'
import {
  type Anchors,
  type CheckpointKey,
  type CheckpointPosition,
  addAnchors,
  checkLink,
  checkSeal,
  readCheckpointRange,
} from './checkpoint-chain.ts'
import { genesisHash } from './entry.ts'
import {
  type BrokenRow,
  type ChainHead,
  type Position,
  type Query,
  type Range,
  type Seal,
  batchSize,
  checkHead,
  checkRow,
  findChangedSeals,
  readRanges,
} from './rows.ts'

/** The rows of a chain that checkpoints cover, by seq. */
type SealsBySeq = ReadonlyMap<number, Pick<Seal, 'seq' | 'hash'>>

/** Progress through one chain, starting at a verified row. */
export type Walk = {
  chainId: string
  fromSeq: number
  /** The last verified row. */
  state: Position
  /** The last row to verify, which must exist; Infinity stands for the last row that exists. */
  to: number
  sealed: SealsBySeq
  /** The stored head, or null if it is missing. The end of the chain is compared with it, unless it is undefined. */
  head: ChainHead | null | undefined
  broken: BrokenRow | null
}

/** Creates a walk that starts after a verified row, or before the first row. */
export function createWalk(
  from: Position | undefined,
  chain: Pick<Walk, 'chainId' | 'to' | 'sealed' | 'head'>,
): Walk {
  const { seq, hash } = from ?? { seq: 0, hash: genesisHash }
  return { ...chain, fromSeq: seq, state: { seq, hash }, broken: null }
}

/** Whether the walk found a broken row or reached its last row. */
export const isDone = ({ broken, state, to }: Walk): boolean => broken !== null || state.seq >= to

/** Returns the largest seq of these rows, or 0 if there are none. */
export const findLastSealedSeq = (sealsBySeq: SealsBySeq): number =>
  sealsBySeq.keys().reduce((max, seq) => Math.max(max, seq), 0)

/** Result of reading the checkpoints after the starting checkpoint. */
export type Seals = {
  anchors: Anchors
  hashes: Map<number, string>
  problem: string | null
  /** False if the starting checkpoint is missing or was replaced. */
  isStartUnchanged: boolean
  /** The stored starting checkpoint; `lastValid` is the newest checkpoint before the first problem. */
  first: Checkpoint | null
  lastValid: Checkpoint | null
  /** The last checkpoint that was read, or the starting checkpoint if no checkpoint follows it. */
  last: CheckpointPosition
  /** Number of heads in all checkpoints that were read. */
  heads: number
  /** False if `maxCheckpoints` left some checkpoints unread. */
  isComplete: boolean
}

/** Start and limits of a walk. */
export type Start<W extends Walk = Walk> = {
  checkpoint: CheckpointPosition
  lastCheckpoint?: number
  maxCheckpoints?: number
  /** Additional check of each checkpoint; returns the problem or null. */
  checkCheckpoint?: (checkpoint: CheckpointPosition) => string | null
  maxRows?: number
  signal?: AbortSignal | undefined
  /** Called after each statement with the number of rows that it covered. */
  onRows?: (rows: number, walks: readonly W[]) => Promise<void> | void
}

/**
 * Yields batches of chains to traverse. The caller traverses a batch, as far as the limits allow, before it requests
 * the next one.
 */
export type Reporter<W extends Walk> = (seals: Seals) => AsyncGenerator<W[], void, void>

type Trail = { query: Query; keys: readonly CheckpointKey[]; anchors?: Anchors }

/** Verifies the checkpoints after the starting checkpoint, and then the chains that the reporter lists. */
export async function walkTrail<W extends Walk>(
  trail: Trail,
  start: Start<W>,
  report: Reporter<W>,
): Promise<Seals> {
  const seals = await walkCheckpoints(trail, start)
  let remainingRows = start.maxRows ?? Infinity
  for await (const walks of report(seals)) {
    remainingRows -= await walkChains(trail.query, walks, { ...start, maxRows: remainingRows })
    if (seals.isComplete) checkHeads(walks)
  }
  return seals
}

// The batch is small because a checkpoint has up to 1,000 heads.
const checkpointBatch = 100

/**
 * Checks the links and signatures of the checkpoints after the starting checkpoint; the heads in validly signed
 * checkpoints become anchors.
 */
export async function walkCheckpoints(
  { query, keys, anchors = new Map() }: Trail,
  start: Omit<Start, 'onRows'>,
): Promise<Seals> {
  const { checkpoint: from, lastCheckpoint: to = Number.MAX_SAFE_INTEGER, maxCheckpoints = Infinity } = start
  const { checkCheckpoint = () => null } = start
  const hashes = new Map<number, string>()
  const seals: Seals = {
    anchors,
    hashes,
    problem: null,
    isStartUnchanged: true,
    first: null,
    lastValid: null,
    last: from,
    heads: 0,
    isComplete: true,
  }
  // The limit includes the starting checkpoint, which is read again, and one extra checkpoint that shows whether more
  // exist.
  const limit = Math.min(checkpointBatch, maxCheckpoints + 2)
  for (let nextSeq = Math.max(1, from.seq); ; nextSeq = seals.last.seq + 1) {
    const checkpoints = await readCheckpointRange(query, { from: nextSeq, to }, limit)
    const isLast = checkpoints.length < limit
    if (nextSeq === from.seq) {
      if (checkpoints[0]?.seq === nextSeq) seals.first = seals.lastValid = checkpoints.shift() ?? null
      seals.isStartUnchanged = seals.first?.hash === from.hash
      if (!seals.isStartUnchanged) seals.problem = `checkpoint ${nextSeq} is missing or was replaced`
    }
    for (const checkpoint of checkpoints) {
      if (hashes.size === maxCheckpoints) return { ...seals, isComplete: false }
      const { seq, hash } = checkpoint
      const seal = checkSeal(checkpoint, keys)
      const contradiction = seal === null ? addAnchors(anchors, checkpoint) : `checkpoint ${seq} ${seal}`
      seals.problem ??= checkLink(checkpoint, seals.last) ?? contradiction ?? checkCheckpoint(checkpoint)
      if (seals.problem === null) seals.lastValid = checkpoint
      seals.last = { seq, hash }
      seals.heads += checkpoint.heads.length
      hashes.set(seq, hash)
    }
    if (isLast) return seals
  }
}

/** Number of rows that are hashed before the event loop gets control back. */
const sliceSize = 50

/**
 * Traverses the chains in order until all are done or `maxRows` rows are covered; returns the number of rows.
 */
export async function walkChains<W extends Walk>(
  query: Query,
  walks: readonly W[],
  { maxRows = Infinity, signal, onRows }: Pick<Start<W>, 'maxRows' | 'signal' | 'onRows'> = {},
): Promise<number> {
  await checkPassedSeals(query, walks)
  for (let [takenRows, checkedRows] = [0, 0]; ;) {
    const ranges = selectRanges(walks, Math.min(batchSize, maxRows - takenRows))
    if (ranges.length === 0 || signal?.aborted === true) return takenRows
    const rowsByChain = Map.groupBy(await readRanges(query, ranges), ({ chainId }) => chainId)
    let coveredRows = 0
    for (const { walk, size } of ranges) {
      const rows = rowsByChain.get(walk.chainId) ?? []
      for (const row of rows) {
        if (++checkedRows % sliceSize === 0) await setImmediate()
        walk.broken = checkRow(row, walk.state, walk.sealed)
        if (walk.broken !== null) break
      }
      const { to, state } = walk
      coveredRows += to === Infinity ? rows.length : size
      if (rows.length === size) continue
      if (to === Infinity) walk.to = state.seq
      else walk.broken ??= { seq: state.seq + 1, reason: `rows are missing: the chain had rows up to ${to}` }
    }
    takenRows += coveredRows
    await onRows?.(coveredRows, walks)
  }
}

/**
 * Compares the rows before the start of each walk with their signed heads, because the walk itself does not read them.
 */
async function checkPassedSeals(query: Query, walks: readonly Walk[]): Promise<void> {
  const passedSeals = walks.flatMap(({ chainId, fromSeq, sealed }) =>
    [...sealed.values()].flatMap(({ seq, hash }) => (seq <= fromSeq ? [{ chainId, seq, hash }] : [])),
  )
  const changedSeals = Map.groupBy(await findChangedSeals(query, passedSeals), ({ chainId }) => chainId)
  for (const walk of walks) walk.broken ??= changedSeals.get(walk.chainId)?.[0]?.broken ?? null
}

/** Returns the ranges for the next statement, which cover at most `maxRows` rows in total. */
function selectRanges(walks: readonly Walk[], maxRows: number): (Range & { walk: Walk; size: number })[] {
  const ranges: (Range & { walk: Walk; size: number })[] = []
  let remainingRows = maxRows
  for (const walk of walks) {
    if (remainingRows <= 0) break
    if (isDone(walk)) continue
    const { chainId, state, to } = walk
    const size = Math.min(remainingRows, to - state.seq)
    // In a walk to the last row, a gap in seq may be wider than the batch.
    const lastSeq = to === Infinity ? Number.MAX_SAFE_INTEGER : state.seq + size
    ranges.push({ walk, size, chainId, after: state.seq, to: lastSeq })
    remainingRows -= size
  }
  return ranges
}

/** Checks the heads of chains that were traversed completely. */
export function checkHeads(walks: readonly Walk[]): void {
  for (const walk of walks) {
    const { head, state, fromSeq, sealed } = walk
    if (head === undefined || !isDone(walk)) continue
    // A head that was signed before this walk cannot cover rows after the start of the walk.
    const passedSeq = Math.min(head?.checkpointedSeq ?? 0, fromSeq)
    walk.broken ??= checkHead(head, state, Math.max(passedSeq, findLastSealedSeq(sealed)))
  }
}
