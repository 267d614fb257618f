// Verifies the whole audit trail in one snapshot, or only the part after a known checkpoint.
import type { Db, Reads } from '../postgres/handles.ts'
import type { Checkpoint, Head } from './checkpoint.ts'
import {
  type Anchors,
  type CheckpointKey,
  type CheckpointPosition,
  addAnchors,
  beforeCheckpoints,
  checkSeal,
} from './checkpoint-chain.ts'
import {
  type BrokenRow,
  type ChainHead,
  type Query,
  type Seal,
  batchSize,
  findChangedSeals,
  createQuery,
  readHeads,
} from './rows.ts'
import {
  type Seals,
  type Walk,
  checkHeads,
  isDone,
  findLastSealedSeq,
  walkChains,
  walkCheckpoints,
  createWalk,
  walkTrail,
} from './walker.ts'

/** The verdict on one chain. */
export type ChainReport = {
  chainId: string
  status: 'ok' | 'broken' | 'empty'
  entries: number
  toSeq: number
  headHash: string | null
  firstBrokenSeq: number | null
  reason: string | null
  /** The newest checkpoint that covers this chain. */
  seal: Seal | null
}

/** The verdict on the whole trail. */
export type AuditReport = {
  status: 'ok' | 'broken' | 'empty'
  entries: number
  /** Rows that were read and hashed. */
  checked: number
  chains: ChainReport[]
  /** `compared` is the number of external checkpoints that were compared. */
  checkpoints: { count: number; lastSeq: number; problem: string | null; compared: number }
}

/** A verified state: the heads of all chains at a checkpoint. */
export type Baseline = { checkpoint: CheckpointPosition; heads: readonly Head[] }

type Options = {
  /** Checkpoints kept outside the database, for example from the log stream. */
  external?: readonly Checkpoint[]
  /** Verifies only rows after this checkpoint, which is given by its number or by its heads. */
  since?: number | Baseline
  onProgress?: (done: { rows: number; chains: number; totalChains: number }) => void
}

type ExternalCheckpoint = { checkpoint: Checkpoint; seal: string | null }
type VerifyContext = {
  keys: readonly CheckpointKey[]
  external: readonly ExternalCheckpoint[]
  options: Options
}

/** Verifies the trail in one snapshot: one pass over all rows, with every signed head in memory. */
export function verifyAudit(
  db: Db,
  keys: readonly CheckpointKey[],
  options: Options = {},
): Promise<AuditReport> {
  // Signatures are checked before the transaction, which would otherwise be idle.
  const external = (options.external ?? []).map((checkpoint) => ({
    checkpoint,
    seal: checkSeal(checkpoint, keys),
  }))
  return db.transaction((tx) => verifySnapshot(createQuery(tx), { keys, external, options }), {
    isSnapshot: true,
    // A retry would report the same progress twice.
    mustNotRetry: true,
  })
}

async function verifySnapshot(query: Query, context: VerifyContext): Promise<AuditReport> {
  const { keys, external, options } = context
  const start = typeof options.since === 'object' ? options.since.checkpoint : beforeCheckpoints
  // Checkpoints before the baseline are not read.
  const comparedCheckpoints = external.filter(
    ({ checkpoint, seal }) => seal !== null || checkpoint.seq >= start.seq,
  )
  const checkpoints = {
    count: 0,
    lastSeq: 0,
    problem: null as string | null,
    compared: comparedCheckpoints.length,
  }
  const chains: ChainReport[] = []
  let [checkedRows, chainCount] = [0, 0]
  const onRows = (rows: number, walks: readonly ChainWalk[]): void => {
    checkedRows += rows
    options.onProgress?.({
      rows: checkedRows,
      chains: chains.length + walks.filter(isDone).length,
      totalChains: chainCount,
    })
  }
  await walkTrail<ChainWalk>({ query, keys }, { checkpoint: start, onRows }, async function* (seals) {
    const { hashes, anchors, last, first } = seals
    checkpoints.count = hashes.size
    checkpoints.lastSeq = last.seq
    hashes.set(start.seq, first?.hash ?? '')
    const difference = compareKnown({ ...context, external: comparedCheckpoints }, start, seals)
    checkpoints.problem = seals.problem ?? difference
    const heads = findKnownHeads(options.since, anchors)
    const chainIds = await listChains(query, [...anchors.keys(), ...heads.keys()])
    chainCount = chainIds.length
    for (let offset = 0; offset < chainCount; offset += batchSize) {
      const walks = await listWalks(query, chainIds.slice(offset, offset + batchSize), {
        anchors,
        known: heads,
      })
      yield walks
      chains.push(...walks.map((walk) => reportWalk(walk, walk.broken, walk.seal)))
    }
  })
  const entries = chains.reduce((sum, chain) => sum + chain.entries, 0)
  const isBroken = checkpoints.problem !== null || chains.some(({ status }) => status === 'broken')
  const status = isBroken ? 'broken' : entries === 0 ? 'empty' : 'ok'
  return { status, entries, chains, checked: checkedRows, checkpoints }
}

/**
 * Compares the stored checkpoints with the external checkpoints and the retired keys; returns the first difference.
 */
function compareKnown(
  { keys, external, options: { since } }: VerifyContext,
  start: CheckpointPosition,
  seals: Seals,
): string | null {
  // Every external checkpoint is compared, because each adds anchors.
  const differences = external.map((externalCheckpoint) => compareExternal(externalCheckpoint, seals))
  let problem = differences.find((difference) => difference !== null) ?? null
  for (const { last } of keys)
    if (last !== undefined && last.seq >= start.seq && seals.hashes.get(last.seq) !== last.hash)
      problem ??= `checkpoint ${last.seq} is not the last checkpoint that a retired key signed`
  if (typeof since === 'number' && since > seals.last.seq) problem ??= `checkpoint ${since} does not exist`
  return problem
}

/**
 * Compares an external checkpoint with the stored checkpoint. A validly signed checkpoint also becomes an
 * anchor.
 */
function compareExternal(
  { checkpoint, seal }: ExternalCheckpoint,
  { anchors, hashes, last }: Seals,
): string | null {
  const { seq, hash } = checkpoint
  if (seal !== null) return `external checkpoint ${seq} ${seal}`
  const anchorProblem = addAnchors(anchors, checkpoint)
  if (seq > last.seq) return `checkpoint ${seq} exists outside the database but is missing from it`
  return hashes.get(seq) === hash
    ? anchorProblem
    : `checkpoint ${seq} in the database differs from its external copy`
}

/** Returns the known head of each chain, after which its verification starts. */
function findKnownHeads(since: Options['since'], anchors: Anchors): ReadonlyMap<string, Head> {
  const knownHeads = new Map<string, Head>()
  if (typeof since === 'object') for (const head of since.heads) knownHeads.set(head.chainId, head)
  if (typeof since === 'number')
    for (const [chainId, sealed] of anchors)
      for (const { seq, hash, checkpoint } of sealed.values())
        if (checkpoint.seq <= since && seq > (knownHeads.get(chainId)?.seq ?? 0))
          knownHeads.set(chainId, { chainId, seq, hash })
  return knownHeads
}

/** A walk to the last row of a chain, and the newest checkpoint that covers it. */
type ChainWalk = Walk & { seal: Seal | null }
type SealsBySeq = ReadonlyMap<number, Seal>

async function listWalks(
  query: Query,
  chainIds: readonly string[],
  {
    anchors,
    known: knownHeads,
  }: { anchors: ReadonlyMap<string, SealsBySeq>; known: ReadonlyMap<string, Head> },
): Promise<ChainWalk[]> {
  const heads = await readHeads(query, chainIds)
  const starts = chainIds.flatMap((chainId) => knownHeads.get(chainId) ?? [])
  const changedChains = new Set((await findChangedSeals(query, starts)).map(({ chainId }) => chainId))
  return chainIds.map((chainId): ChainWalk => {
    const [from, chainSeals] = [knownHeads.get(chainId), anchors.get(chainId) ?? new Map<number, Seal>()]
    const chain = { chainId, to: Infinity, head: heads.get(chainId) ?? null }
    const seal = chainSeals.get(Math.max(from?.seq ?? 0, findLastSealedSeq(chainSeals))) ?? null
    if (from === undefined) return { ...createWalk(undefined, { ...chain, sealed: chainSeals }), seal }
    const { seq, hash } = from
    // If the known row is missing or was replaced, the chain is read from its first row.
    const position = changedChains.has(chainId) ? undefined : { seq, hash: Buffer.from(hash, 'hex') }
    const remainingSeals = new Map<number, Pick<Seal, 'seq' | 'hash'>>([[seq, from], ...chainSeals])
    if (position !== undefined)
      for (const passedSeq of remainingSeals.keys()) if (passedSeq <= seq) remainingSeals.delete(passedSeq)
    return { ...createWalk(position, { ...chain, sealed: remainingSeals }), seal }
  })
}

/**
 * Returns every chain that has a head or a row or is in a checkpoint; costs one lookup per chain, regardless of the
 * number of rows.
 */
async function listChains(query: Query, sealedChainIds: readonly string[]): Promise<string[]> {
  const rows = await query<{ chainId: string }>(
    `with recursive logged as (
       (select chain_id from audit_logs order by chain_id limit 1)
       union all
       select (select l.chain_id from audit_logs l where l.chain_id > logged.chain_id order by l.chain_id limit 1)
       from logged where logged.chain_id is not null
     )
     select chain_id as "chainId" from audit_chains union select chain_id from logged where chain_id is not null`,
  )
  return [...new Set(rows.map((row) => row.chainId).concat(sealedChainIds))].toSorted()
}

/** Returns the verdict on the part of a chain that was traversed. */
export const reportWalk = (
  { chainId, state }: Walk,
  broken: BrokenRow | null,
  seal: Seal | null,
): ChainReport => ({
  chainId,
  status: broken !== null ? 'broken' : state.seq === 0 ? 'empty' : 'ok',
  entries: state.seq,
  toSeq: state.seq,
  headHash: state.seq === 0 ? null : state.hash.toString('hex'),
  firstBrokenSeq: broken?.seq ?? null,
  reason: broken?.reason ?? null,
  seal,
})

/** Checks all checkpoints, and adds their heads to the anchors. */
export const readCheckpoints = (
  db: Reads,
  keys: readonly CheckpointKey[],
  anchors: Anchors,
): Promise<Seals> =>
  walkCheckpoints({ query: createQuery(db), keys, anchors }, { checkpoint: beforeCheckpoints })

/** Verifies one chain against its signed heads. Must run in a snapshot. */
export async function verifyChain(db: Reads, chainId: string, sealsBySeq: SealsBySeq): Promise<ChainReport> {
  const query = createQuery(db)
  const [walk] = await listWalks(query, [chainId], {
    anchors: new Map([[chainId, sealsBySeq]]),
    known: new Map(),
  })
  if (walk === undefined) throw new Error('expected exactly one chain')
  await walkChains(query, [walk])
  checkHeads([walk])
  return reportWalk(walk, walk.broken, walk.seal)
}

/** Returns the stored head of a chain. */
export const findHead = async (query: Query, chainId: string): Promise<ChainHead | undefined> =>
  (await readHeads(query, [chainId])).get(chainId)
