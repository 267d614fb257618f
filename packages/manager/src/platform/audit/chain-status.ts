// Determines the verdict on the audit chains for a report or an export. It combines the findings so far with a check of
// newer rows, up to a limit. `to_seq` says how far the check got; `reason` names the part that is not verified yet.
import type { KeyObject } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Snapshot } from '../postgres/snapshots.ts'
import { type ChainObject, chainObject, checkpointObject } from './chain-object.ts'
import { type Anchors, type CheckpointKey, checkSeal, readCheckpointRange } from './checkpoint-chain.ts'
import {
  type Broken,
  type ChainHead,
  type HeadRow,
  type Query,
  type Seal,
  headColumns,
  headOf,
  readHeads,
} from './rows.ts'
import {
  type Mark,
  forgedMark,
  freshState,
  listOrphanedMarks,
  readMarks,
  readState,
} from './verification-marks.ts'
import { reportWalk } from './verify.ts'
import { type Seals, type Walk, lastSealed, walkFrom, walkTrail } from './walker.ts'

/** Returns the verdict on a project's chain, or on all chains if `projectId` is null, as of the snapshot. */
export type ReadChainStatus = (snapshot: Snapshot, projectId: string | null) => Promise<ChainObject>

type Keys = { keys: readonly CheckpointKey[]; macKey: KeyObject }
/** Maximum number of rows and checkpoints that one call verifies. */
type Budget = { rows: number; checkpoints: number }
const defaultBudget: Budget = { rows: 10_000, checkpoints: 100 }
/** Number of chains whose marks are checked before control returns to the event loop. */
const chainBatch = 500

/** Creates a reader that verifies only the rows after the last verified one. */
export function createChainStatus({ keys, macKey }: Keys, budget = defaultBudget): ReadChainStatus {
  return async (snapshot, projectId) => {
    const query: Query = (text, values) => snapshot.query(text, values)
    const [now] = await query<{ now: string }>('select clock_timestamp() as now')
    const context = { query, keys, macKey, budget, verifiedAt: new Date(now?.now ?? 0) }
    return projectId === null ? statusOfAll(context) : statusOfOne(context, projectId)
  }
}

type StatusContext = Keys & { query: Query; budget: Budget; verifiedAt: Date }
type Headed = [chainId: string, head: ChainHead | null]
type NamedBroken = Broken & { chainId: string }
type MarkedWalk = Walk & { mark: Mark | undefined }

/** Verifies newer checkpoints, and each chain from its mark on, within the budget. */
async function verifyNewer(
  { query, keys, macKey, budget }: StatusContext,
  chains: AsyncIterable<Headed[]> | Iterable<Headed[]>,
  onChains: (walks: readonly MarkedWalk[]) => void,
): Promise<Seals> {
  const { checkpoint, problem } = (await readState(query, macKey)) ?? freshState()
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
  return problem === null ? seals : { ...seals, problem, lastGood: seals.first }
}

async function startWalks(
  { query, macKey }: Pick<StatusContext, 'query' | 'macKey'>,
  anchors: Anchors,
  heads: readonly Headed[],
): Promise<MarkedWalk[]> {
  const chainIds = heads.map(([chainId]) => chainId)
  const { marks, forged } = await readMarks(query, macKey, chainIds, ['new'])
  const byChain = new Map(marks.map((mark) => [mark.chainId, mark]))
  const isForged = new Set(forged)
  return heads.map(([chainId, head]) => {
    const mark = byChain.get(chainId)
    const sealed = anchors.get(chainId) ?? new Map<number, Seal>()
    const walk = walkFrom(mark, { chainId, sealed, head, to: Math.max(head?.seq ?? 0, lastSealed(sealed)) })
    const broken = isForged.has(chainId) ? { seq: 0, reason: forgedMark(chainId) } : (mark?.broken ?? null)
    return { ...walk, broken, mark }
  })
}

/** Returns the number of rows that the budget left unverified. */
const countUnverifiedRows = ({ state, to }: Walk): number => Math.max(0, to - state.seq)

/** Describes the rows and checkpoints that the verdict does not cover; null if it covers everything. */
function describeUnverified({ isComplete }: Seals, rows: number): string | null {
  const counted = rows === 1 ? '1 row' : `${rows} rows`
  const rest = [...(rows > 0 ? [counted] : []), ...(isComplete ? [] : ['newer checkpoints'])]
  return rest.length === 0 ? null : `verified up to here; not verified yet: ${rest.join(' and ')}`
}

/** A problem with the checkpoints affects every row, so `seq` is 0. */
const toBroken = (problem: string | null): Broken | null =>
  problem === null ? null : { seq: 0, reason: problem }

const seqOf = (broken: Broken | null): number | null =>
  broken === null || broken.seq === 0 ? null : broken.seq

async function statusOfOne(context: StatusContext, chainId: string): Promise<ChainObject> {
  const head = (await readHeads(context.query, [chainId])).get(chainId) ?? null
  const walked: MarkedWalk[] = []
  const newer = await verifyNewer(context, [[[chainId, head]]], (walks) => void walked.push(...walks))
  const [walk] = walked
  if (walk === undefined) throw new Error('expected exactly one chain')
  const { seal, problem } = await findSeal(context, walk, newer)
  const broken = walk.broken ?? toBroken(newer.problem) ?? toBroken(problem)
  const report = reportWalk(walk, broken, seal)
  const reason = report.reason ?? describeUnverified(newer, countUnverifiedRows(walk))
  return chainObject({ ...report, firstBrokenSeq: seqOf(broken), reason }, context.verifiedAt)
}

/** Finds the newest checkpoint that covers a verified row of the chain. */
async function findSeal(
  { query, keys }: StatusContext,
  { chainId, state, mark }: MarkedWalk,
  { anchors }: Seals,
): Promise<{ seal: Seal | null; problem: string | null }> {
  const seals = [...(anchors.get(chainId)?.values() ?? [])].filter(({ seq }) => seq <= state.seq)
  const newest = seals.toSorted((one, other) => other.seq - one.seq)[0] ?? null
  const number = mark?.checkpointSeq ?? 0
  if (newest !== null || number === 0) return { seal: newest, problem: null }
  const [checkpoint] = await readCheckpointRange(query, { from: number, to: number }, 1)
  const head = checkpoint?.heads.find((one) => one.chainId === chainId)
  const reason = checkpoint === undefined ? 'is missing' : checkSeal(checkpoint, keys)
  if (checkpoint === undefined || reason !== null || head === undefined)
    return { seal: null, problem: `checkpoint ${number} ${reason ?? 'was changed'}` }
  return { seal: { seq: head.seq, hash: head.hash, checkpoint }, problem: null }
}

/** Yields the heads of all chains in batches. */
async function* listHeads(query: Query): AsyncGenerator<Headed[], void, void> {
  for (let after: string[] = []; ;) {
    const rows: HeadRow[] = await query<HeadRow>(
      `select ${headColumns} from audit_chains ${after.length === 0 ? '' : 'where chain_id > $1'}
       order by chain_id limit ${chainBatch}`,
      after,
    )
    yield rows.map(headOf)
    const last = rows.at(-1)
    if (last === undefined || rows.length < chainBatch) return
    after = [last.chainId]
    await setImmediate()
  }
}

async function statusOfAll(context: StatusContext): Promise<ChainObject> {
  const { query, verifiedAt } = context
  const sum: { entries: number; rest: number; broken: NamedBroken | null } = {
    entries: 0,
    rest: 0,
    broken: null,
  }
  const sealedChains = new Set<string>()
  const newer = await verifyNewer(context, listHeads(query), (walks) => {
    for (const walk of walks) {
      sum.entries += walk.state.seq
      sum.rest += countUnverifiedRows(walk)
      if (walk.sealed.size > 0) sealedChains.add(walk.chainId)
      if (walk.broken !== null) sum.broken ??= { ...walk.broken, chainId: walk.chainId }
    }
  })
  // Rows and their head are written together, so every chain that was verified or is in a checkpoint has a head.
  const headless = newer.anchors.keys().filter((chainId) => !sealedChains.has(chainId))
  for (const chainId of [...(await listOrphanedMarks(query)), ...headless])
    sum.broken ??= { seq: 1, reason: "the chain's head is missing", chainId }
  const { entries, rest, broken } = sum
  const first = broken ?? toBroken(newer.problem)
  // If the budget left rows unverified, the last checkpoint may cover some of them, so an earlier one is reported.
  const last = rest === 0 ? newer.lastGood : newer.first
  return {
    status: first !== null ? 'broken' : entries === 0 ? 'empty' : 'ok',
    entries,
    from_seq: null,
    to_seq: null,
    head_hash: null,
    first_broken_seq: seqOf(first),
    reason:
      broken === null
        ? (first?.reason ?? describeUnverified(newer, rest))
        : `chain ${broken.chainId}: ${broken.reason}`,
    checkpoint: last === null ? null : checkpointObject(last, last),
    verified_at: verifiedAt.toISOString(),
  }
}
