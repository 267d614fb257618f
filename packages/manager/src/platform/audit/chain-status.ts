// What reports and exports say about the chains they were read from: what verification has found so far, and what is newer
// is verified at once, up to a number of rows. `to_seq` says how far that came, and `reason` what is not verified yet.
import type { KeyObject } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Snapshot } from '../db/snapshots.ts'
import { type ChainObject, chainObject } from './chain-object.ts'
import type { Checkpoint } from './checkpoint.ts'
import {
  type Anchors,
  type CheckpointKey,
  addAnchors,
  checkLink,
  checkSeal,
  readCheckpointRange,
} from './checkpoint-chain.ts'
import { genesisHash } from './entry.ts'
import {
  type Broken,
  type ChainHead,
  type Query,
  type Seal,
  type Walk,
  checkHead,
  findChangedSeals,
  walkChains,
} from './rows.ts'
import {
  type Mark,
  type VerificationState,
  freshState,
  listOrphanedMarks,
  readMarks,
  readState,
} from './verification-marks.ts'
import { forgedMark } from './verify-incremental.ts'
import type { ChainReport } from './verify.ts'

/** The verdict on the chain of a project, or on all chains for null, as of the snapshot. */
export type ReadChainStatus = (snapshot: Snapshot, projectId: string | null) => Promise<ChainObject>

type Keys = { keys: readonly CheckpointKey[]; macKey: KeyObject }
/** The number of rows and of checkpoints that one answer verifies at most. */
type Budget = { rows: number; checkpoints: number }
const defaultBudget: Budget = { rows: 10_000, checkpoints: 100 }
/** Chains whose marks are checked before other work of the process has its turn. */
const chainBatch = 500

/** Reads how far the chain has been verified, and verifies what is newer. */
export function createChainStatus({ keys, macKey }: Keys, most = defaultBudget): ReadChainStatus {
  return async (snapshot, projectId) => {
    const query: Query = (text, values) => snapshot.query(text, values)
    const [now] = await query<{ now: string }>('select clock_timestamp() as now')
    const verifiedAt = new Date(now?.now ?? 0)
    const newer = await readNewer(query, { keys, macKey }, most.checkpoints)
    const asked = { query, macKey, newer, budget: { rows: most.rows } }
    if (projectId === null) return statusOfAll(asked, verifiedAt)
    const [chain] = await verifyNewest(asked, [await headOf(query, projectId)])
    if (chain === undefined) throw new Error('one chain was asked for')
    const seal = await sealOf(query, keys, { chain, newer })
    const broken = chain.broken ?? newer.problem ?? seal.problem
    const reason = broken?.reason ?? unverified(newer, restOf(chain))
    return chainObject({ ...reportOf(chain, broken, seal.seal), reason }, verifiedAt)
  }
}

/** The checkpoints after those that verification has gone over. */
type Newer = {
  anchors: Anchors
  problem: Broken | null
  /** Whether all of them were read. */
  isWhole: boolean
  /** The last one verification has gone over, and the last one there is that is right. */
  before: Checkpoint | null
  last: Checkpoint | null
}

async function readNewer(query: Query, { keys, macKey }: Keys, maxCheckpoints: number): Promise<Newer> {
  const state = (await readState(query, macKey)) ?? freshState()
  const { seq } = state.checkpoint
  const range = { from: Math.max(1, seq), to: Number.MAX_SAFE_INTEGER }
  // One more tells whether there are more, and the one before is read again.
  const read = await readCheckpointRange(query, range, maxCheckpoints + (seq > 0 ? 2 : 1))
  let problem = state.problem
  let before: Checkpoint | null = null
  let [last, previous]: [Checkpoint | null, VerificationState['checkpoint']] = [null, state.checkpoint]
  if (seq > 0) {
    before = last = read.shift() ?? null
    if (last?.hash !== state.checkpoint.hash) problem ??= `checkpoint ${seq} is missing or another one now`
  }
  const isWhole = read.length <= maxCheckpoints
  const anchors: Anchors = new Map()
  for (const checkpoint of read.slice(0, maxCheckpoints)) {
    const seal = checkSeal(checkpoint, keys)
    const contradiction =
      seal === null ? addAnchors(anchors, checkpoint) : `checkpoint ${checkpoint.seq} ${seal}`
    problem ??= checkLink(checkpoint, previous) ?? contradiction
    previous = { seq: checkpoint.seq, hash: checkpoint.hash }
    if (problem === null) last = checkpoint
  }
  // No row is named: it is about all of them.
  return { anchors, problem: problem === null ? null : { seq: 0, reason: problem }, isWhole, before, last }
}

type Asked = { query: Query; macKey: KeyObject; newer: Newer; budget: { rows: number } }
type Headed = { chainId: string; head: ChainHead | undefined }
/** A chain, how far it is verified, and what is wrong with it. */
type Verified = Walk & { mark: Mark | undefined; head: ChainHead | undefined }

/** Verifies what is newer than the marks of these chains, within the budget. */
async function verifyNewest(asked: Asked, chains: readonly Headed[]): Promise<Verified[]> {
  const { query, macKey, newer, budget } = asked
  const chainIds = chains.map(({ chainId }) => chainId)
  const { marks, forged } = await readMarks(query, macKey, chainIds, ['new'])
  const byChain = new Map(marks.map((mark) => [mark.chainId, mark]))
  const isForged = new Set(forged)
  const walks = chains.map(({ chainId, head }): Verified => {
    const mark = byChain.get(chainId)
    const sealed = newer.anchors.get(chainId) ?? new Map<number, Seal>()
    const state = { seq: mark?.seq ?? 0, hash: mark?.hash ?? genesisHash }
    const broken = isForged.has(chainId) ? { seq: 0, reason: forgedMark(chainId) } : (mark?.broken ?? null)
    return { chainId, state, sealed, broken, mark, head, to: Math.max(head?.seq ?? 0, ...sealed.keys()) }
  })
  const before = walks.flatMap(({ chainId, state }) =>
    [...(newer.anchors.get(chainId)?.values() ?? [])].flatMap(({ seq, hash }) =>
      seq <= state.seq ? [{ chainId, seq, hash }] : [],
    ),
  )
  const changed = new Map((await findChangedSeals(query, before)).map((one) => [one.chainId, one.broken]))
  for (const walk of walks) walk.broken ??= changed.get(walk.chainId) ?? null
  budget.rows -= await walkChains(query, walks, budget.rows)
  for (const walk of walks) walk.broken ??= brokenHead(walk, newer)
  return walks
}

/** What the head of a chain claims about rows that were reached. */
function brokenHead({ head, state, mark, sealed, to }: Verified, { isWhole }: Newer): Broken | null {
  if (state.seq < to || !isWhole) return null
  // Seals that verification has gone over lie at or before the mark.
  const gone = Math.min(head?.checkpointedSeq ?? 0, mark?.seq ?? 0)
  return checkHead(head, state, Math.max(gone, ...sealed.keys()))
}

/** The newest checkpoint that sealed a verified row of the chain. */
async function sealOf(
  query: Query,
  keys: readonly CheckpointKey[],
  { chain: { chainId, state, mark }, newer }: { chain: Verified; newer: Newer },
): Promise<{ seal: Seal | null; problem: Broken | null }> {
  const seals = [...(newer.anchors.get(chainId)?.values() ?? [])].filter(({ seq }) => seq <= state.seq)
  const newest = seals.reduce<Seal | null>(
    (most, seal) => (most === null || seal.seq > most.seq ? seal : most),
    null,
  )
  const number = mark?.checkpointSeq ?? 0
  if (newest !== null || number === 0) return { seal: newest, problem: null }
  const [checkpoint] = await readCheckpointRange(query, { from: number, to: number }, 1)
  const head = checkpoint?.heads.find((one) => one.chainId === chainId)
  const reason = checkpoint === undefined ? 'is missing' : checkSeal(checkpoint, keys)
  if (checkpoint === undefined || reason !== null || head === undefined)
    return { seal: null, problem: { seq: 0, reason: `checkpoint ${number} ${reason ?? 'was changed'}` } }
  return { seal: { seq: head.seq, hash: head.hash, checkpoint }, problem: null }
}

/** Rows of the chain that the budget did not allow. */
const restOf = ({ state, to }: Verified): number => Math.max(0, to - state.seq)

/** What is said of a verdict that does not cover everything; null when it does. */
function unverified({ isWhole }: Newer, rows: number): string | null {
  const rest = [...(rows > 0 ? [`${rows} rows`] : []), ...(isWhole ? [] : ['newer checkpoints'])]
  return rest.length === 0 ? null : `verified up to here; ${rest.join(' and ')} are not verified yet`
}

type Report = Omit<ChainReport, 'reason'>
function reportOf({ chainId, state }: Verified, broken: Broken | null, seal: Seal | null): Report {
  return {
    chainId,
    status: broken !== null ? 'broken' : state.seq === 0 ? 'empty' : 'ok',
    entries: state.seq,
    toSeq: state.seq,
    headHash: state.seq === 0 ? null : state.hash.toString('hex'),
    firstBrokenSeq: broken === null || broken.seq === 0 ? null : broken.seq,
    seal,
  }
}

type HeadRow = { chainId: string; seq: string; hash: Buffer; checkpointedSeq: string }
const headColumns = 'chain_id as "chainId", seq, hash, checkpointed_seq as "checkpointedSeq"'
const headedOf = ({ chainId, seq, hash, checkpointedSeq }: HeadRow): Headed => ({
  chainId,
  head: { seq: Number(seq), hash, checkpointedSeq: Number(checkpointedSeq) },
})

async function headOf(query: Query, chainId: string): Promise<Headed> {
  const [row] = await query<HeadRow>(`select ${headColumns} from audit_chains where chain_id = $1`, [chainId])
  return row === undefined ? { chainId, head: undefined } : headedOf(row)
}

/** The heads of all chains, a batch at a time. */
async function* readHeads(query: Query): AsyncGenerator<Headed[], void, void> {
  for (let after: string[] = []; ;) {
    const rows: HeadRow[] = await query<HeadRow>(
      `select ${headColumns} from audit_chains ${after.length === 0 ? '' : 'where chain_id > $1'}
       order by chain_id limit ${chainBatch}`,
      after,
    )
    yield rows.map(headedOf)
    const last = rows.at(-1)
    if (last === undefined || rows.length < chainBatch) return
    after = [last.chainId]
    await setImmediate()
  }
}

async function statusOfAll(asked: Asked, verifiedAt: Date): Promise<ChainObject> {
  const { query, newer } = asked
  let [entries, rest] = [0, 0]
  let broken: (Broken & { chainId: string }) | null = null
  const headless = new Set(newer.anchors.keys())
  for await (const heads of readHeads(query))
    for (const chain of await verifyNewest(asked, heads)) {
      entries += chain.state.seq
      rest += restOf(chain)
      headless.delete(chain.chainId)
      if (chain.broken !== null) broken ??= { ...chain.broken, chainId: chain.chainId }
    }
  // Rows and their head are written at once, so a chain that was verified or sealed has one.
  for (const chainId of [...(await listOrphanedMarks(query)), ...headless])
    broken ??= { seq: 1, reason: "the chain's head is missing", chainId }
  const first = broken ?? newer.problem
  // Rows that it sealed may be among those that were too many.
  const last = rest === 0 ? newer.last : newer.before
  return {
    status: first !== null ? 'broken' : entries === 0 ? 'empty' : 'ok',
    entries,
    from_seq: null,
    to_seq: null,
    head_hash: null,
    first_broken_seq: first === null || first.seq === 0 ? null : first.seq,
    reason:
      broken === null
        ? (first?.reason ?? unverified(newer, rest))
        : `chain ${broken.chainId}: ${broken.reason}`,
    checkpoint:
      last === null
        ? null
        : {
            size: last.seq,
            hash: last.hash,
            signature: last.signature,
            keyId: last.keyId,
            created_at: last.createdAt,
          },
    verified_at: verifiedAt.toISOString(),
  }
}
