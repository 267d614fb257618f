// Determines the verdict on the audit chains for a report or an export. It combines the findings so far with a limited
// check of newer rows. `to_seq` is the last verified row; `reason` names the part that is not verified yet.
import type { KeyObject } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Snapshot } from '../postgres/snapshots.ts'
import { type ChainObject, formatChain, formatCheckpoint } from './chain-object.ts'
import { type Anchors, type CheckpointKey, checkSeal, readCheckpointRange } from './checkpoint-chain.ts'
import {
  type BrokenRow,
  type ChainHead,
  type HeadRow,
  type Query,
  type Seal,
  headColumns,
  parseHead,
  readHeads,
} from './rows.ts'
import {
  type Mark,
  describeForgedMark,
  createInitialState,
  listOrphanedMarks,
  readMarks,
  readState,
} from './verification-marks.ts'
import { reportWalk } from './verify.ts'
import { type Seals, type Walk, findLastSealedSeq, createWalk, walkTrail } from './walker.ts'

/** Returns the verdict on a project's chain, or on all chains if `projectId` is null, as of the snapshot. */
export type ReadChainStatus = (snapshot: Snapshot, projectId: string | null) => Promise<ChainObject>

type Keys = { keys: readonly CheckpointKey[]; macKey: KeyObject }
/** Maximum number of rows and checkpoints that one call verifies. */
type Budget = { rows: number; checkpoints: number }
const defaultBudget: Budget = { rows: 10_000, checkpoints: 100 }
/** Number of chains whose marks are checked before the event loop gets control back. */
const chainBatch = 500

/** Creates a reader that verifies only the rows after the last verified row. */
export function createChainStatus({ keys, macKey }: Keys, budget = defaultBudget): ReadChainStatus {
  return async (snapshot, projectId) => {
    const query: Query = (text, values) => snapshot.query(text, values)
    const [now] = await query<{ now: string }>('select clock_timestamp() as now')
    const context = { query, keys, macKey, budget, verifiedAt: new Date(now?.now ?? 0) }
    return projectId === null ? readTrailVerdict(context) : readChainVerdict(context, projectId)
  }
}

type StatusContext = Keys & { query: Query; budget: Budget; verifiedAt: Date }
type ChainIdAndHead = [chainId: string, head: ChainHead | null]
type BrokenChain = BrokenRow & { chainId: string }
type MarkedWalk = Walk & { mark: Mark | undefined }

/** Verifies, within the budget, new checkpoints and the rows of each chain after its verification mark. */
async function verifyNewer(
  { query, keys, macKey, budget }: StatusContext,
  chains: AsyncIterable<ChainIdAndHead[]> | Iterable<ChainIdAndHead[]>,
  onChains: (walks: readonly MarkedWalk[]) => void,
): Promise<Seals> {
  const { checkpoint, problem } = (await readState(query, macKey)) ?? createInitialState()
  const limits = { maxCheckpoints: budget.checkpoints, maxRows: budget.rows }
  const seals = await walkTrail<MarkedWalk>(
    { query, keys },
    { checkpoint, ...limits },
    async function* ({ anchors }) {
      for await (const heads of chains) {
        const walks = await startWalks({ query, macKey }, anchors, heads)
        yield walks
        onChains(walks)
      }
    },
  )
  return problem === null ? seals : { ...seals, problem, lastValid: seals.first }
}

async function startWalks(
  { query, macKey }: Pick<StatusContext, 'query' | 'macKey'>,
  anchors: Anchors,
  heads: readonly ChainIdAndHead[],
): Promise<MarkedWalk[]> {
  const chainIds = heads.map(([chainId]) => chainId)
  const { marks, forgedChainIds } = await readMarks(query, macKey, chainIds, ['new'])
  const marksByChain = new Map(marks.map((mark) => [mark.chainId, mark]))
  const forgedChains = new Set(forgedChainIds)
  return heads.map(([chainId, head]) => {
    const mark = marksByChain.get(chainId)
    const chainSeals = anchors.get(chainId) ?? new Map<number, Seal>()
    const walk = createWalk(mark, {
      chainId,
      sealed: chainSeals,
      head,
      to: Math.max(head?.seq ?? 0, findLastSealedSeq(chainSeals)),
    })
    const brokenRow = forgedChains.has(chainId)
      ? { seq: 0, reason: describeForgedMark(chainId) }
      : (mark?.broken ?? null)
    return { ...walk, broken: brokenRow, mark }
  })
}

/** Returns the number of rows that remain unverified because the budget was exhausted. */
const countUnverifiedRows = ({ state, to }: Walk): number => Math.max(0, to - state.seq)

/** Describes the rows and checkpoints that the verdict does not cover; null if it covers everything. */
function describeUnverified({ isComplete }: Seals, rows: number): string | null {
  const countText = rows === 1 ? '1 row' : `${rows} rows`
  const unverifiedParts = [...(rows > 0 ? [countText] : []), ...(isComplete ? [] : ['newer checkpoints'])]
  return unverifiedParts.length === 0
    ? null
    : `verified up to here; not verified yet: ${unverifiedParts.join(' and ')}`
}

/** A problem with the checkpoints affects every row, so `seq` is 0. */
const toBrokenRow = (problem: string | null): BrokenRow | null =>
  problem === null ? null : { seq: 0, reason: problem }

const getFailedSeq = (brokenRow: BrokenRow | null): number | null =>
  brokenRow === null || brokenRow.seq === 0 ? null : brokenRow.seq

async function readChainVerdict(context: StatusContext, chainId: string): Promise<ChainObject> {
  const head = (await readHeads(context.query, [chainId])).get(chainId) ?? null
  const verifiedWalks: MarkedWalk[] = []
  const newerSeals = await verifyNewer(
    context,
    [[[chainId, head]]],
    (walks) => void verifiedWalks.push(...walks),
  )
  const [walk] = verifiedWalks
  if (walk === undefined) throw new Error('expected exactly one chain')
  const { seal, problem } = await findSeal(context, walk, newerSeals)
  const brokenRow = walk.broken ?? toBrokenRow(newerSeals.problem) ?? toBrokenRow(problem)
  const report = reportWalk(walk, brokenRow, seal)
  const reason = report.reason ?? describeUnverified(newerSeals, countUnverifiedRows(walk))
  return formatChain({ ...report, firstBrokenSeq: getFailedSeq(brokenRow), reason }, context.verifiedAt)
}

/** Finds the newest checkpoint that covers a verified row of the chain. */
async function findSeal(
  { query, keys }: StatusContext,
  { chainId, state, mark }: MarkedWalk,
  { anchors }: Seals,
): Promise<{ seal: Seal | null; problem: string | null }> {
  const seals = [...(anchors.get(chainId)?.values() ?? [])].filter(({ seq }) => seq <= state.seq)
  const newest = seals.toSorted((a, b) => b.seq - a.seq)[0] ?? null
  const checkpointSeq = mark?.checkpointSeq ?? 0
  if (newest !== null || checkpointSeq === 0) return { seal: newest, problem: null }
  const [checkpoint] = await readCheckpointRange(query, { from: checkpointSeq, to: checkpointSeq }, 1)
  const head = checkpoint?.heads.find((candidate) => candidate.chainId === chainId)
  const reason = checkpoint === undefined ? 'is missing' : checkSeal(checkpoint, keys)
  if (checkpoint === undefined || reason !== null || head === undefined)
    return { seal: null, problem: `checkpoint ${checkpointSeq} ${reason ?? 'was changed'}` }
  return { seal: { seq: head.seq, hash: head.hash, checkpoint }, problem: null }
}

/** Yields the heads of all chains in batches. */
async function* listHeads(query: Query): AsyncGenerator<ChainIdAndHead[], void, void> {
  for (let lastChainIds: string[] = []; ;) {
    const rows: HeadRow[] = await query<HeadRow>(
      `select ${headColumns} from audit_chains ${lastChainIds.length === 0 ? '' : 'where chain_id > $1'}
       order by chain_id limit ${chainBatch}`,
      lastChainIds,
    )
    yield rows.map(parseHead)
    const lastRow = rows.at(-1)
    if (lastRow === undefined || rows.length < chainBatch) return
    lastChainIds = [lastRow.chainId]
    await setImmediate()
  }
}

async function readTrailVerdict(context: StatusContext): Promise<ChainObject> {
  const { query, verifiedAt } = context
  const totals: { entries: number; unverifiedRows: number; broken: BrokenChain | null } = {
    entries: 0,
    unverifiedRows: 0,
    broken: null,
  }
  const sealedChains = new Set<string>()
  const newerSeals = await verifyNewer(context, listHeads(query), (walks) => {
    for (const walk of walks) {
      totals.entries += walk.state.seq
      totals.unverifiedRows += countUnverifiedRows(walk)
      if (walk.sealed.size > 0) sealedChains.add(walk.chainId)
      if (walk.broken !== null) totals.broken ??= { ...walk.broken, chainId: walk.chainId }
    }
  })
  // Rows and their head are written together, so every chain that has been verified or is in a checkpoint has a head.
  const headlessChains = newerSeals.anchors.keys().filter((chainId) => !sealedChains.has(chainId))
  for (const chainId of [...(await listOrphanedMarks(query)), ...headlessChains])
    totals.broken ??= { seq: 1, reason: "the chain's head is missing", chainId }
  const { entries, unverifiedRows, broken } = totals
  const firstBrokenRow = broken ?? toBrokenRow(newerSeals.problem)
  // If the budget was exhausted before all rows were verified, the last checkpoint may cover unverified rows, so an
  // earlier checkpoint is reported.
  const lastCheckpoint = unverifiedRows === 0 ? newerSeals.lastValid : newerSeals.first
  return {
    status: firstBrokenRow !== null ? 'broken' : entries === 0 ? 'empty' : 'ok',
    entries,
    from_seq: null,
    to_seq: null,
    head_hash: null,
    first_broken_seq: getFailedSeq(firstBrokenRow),
    reason:
      broken === null
        ? (firstBrokenRow?.reason ?? describeUnverified(newerSeals, unverifiedRows))
        : `chain ${broken.chainId}: ${broken.reason}`,
    checkpoint: lastCheckpoint === null ? null : formatCheckpoint(lastCheckpoint, lastCheckpoint),
    verified_at: verifiedAt.toISOString(),
  }
}
