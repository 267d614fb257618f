// Verifies the audit trail: every row, every link, and every checkpoint against the rows it sealed; or all that came after
// a checkpoint that is known.
import type { Db, Tx } from '../db/database.ts'
import type { Checkpoint, Head } from './checkpoint.ts'
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
import {
  type Broken,
  type ChainHead,
  type Query,
  type Seal,
  batchSize,
  checkHead,
  checkRow,
  findChangedSeals,
  queryOf,
  readRanges,
} from './rows.ts'

export type ChainReport = {
  chainId: string
  status: 'ok' | 'broken' | 'empty'
  entries: number
  toSeq: number
  headHash: string | null
  firstBrokenSeq: number | null
  reason: string | null
  /** The newest checkpoint that sealed this chain. */
  seal: Seal | null
}

export type AuditReport = {
  status: 'ok' | 'broken' | 'empty'
  entries: number
  /** How many rows were read and hashed. */
  checked: number
  chains: ChainReport[]
  /** `compared` counts those known outside of the database. */
  checkpoints: { count: number; lastSeq: number; problem: string | null; compared: number }
}

/** What is known to be right: the heads of all chains up to a checkpoint. */
export type Baseline = { checkpoint: CheckpointPosition; heads: readonly Head[] }

type Options = {
  /** Checkpoints kept outside the database, for example from the log stream. */
  external?: readonly Checkpoint[]
  /** Only what came after it is verified: the number of a checkpoint, or the heads that one left. */
  since?: number | Baseline
  onProgress?: (done: { rows: number; chains: number; ofChains: number }) => void
}

/** Reads the trail in one snapshot: one pass over all rows, and every sealed head in memory. */
export function verifyAudit(
  db: Db,
  keys: readonly CheckpointKey[],
  options: Options = {},
): Promise<AuditReport> {
  // Before the transaction, which would be idle meanwhile.
  const external = (options.external ?? []).map((checkpoint) => ({
    checkpoint,
    seal: checkSeal(checkpoint, keys),
  }))
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (tx) => {
      const query = queryOf(tx)
      const anchors: Anchors = new Map()
      const start = typeof options.since === 'object' ? options.since.checkpoint : beforeCheckpoints
      const { hashes, ...checkpoints } = await readCheckpoints(tx, keys, anchors, start)
      // What the baseline covers was not read.
      const compared = external.filter(({ checkpoint, seal }) => seal !== null || checkpoint.seq >= start.seq)
      for (const { checkpoint, seal } of compared) {
        const difference = compareExternal(checkpoint, seal, { ...checkpoints, hashes, anchors })
        checkpoints.problem ??= difference
      }
      for (const { last } of keys)
        if (last !== undefined && last.seq >= start.seq && hashes.get(last.seq) !== last.hash)
          checkpoints.problem ??= `checkpoint ${last.seq} is not the last one that a former key signed`
      if (typeof options.since === 'number' && options.since > checkpoints.lastSeq)
        checkpoints.problem ??= `there is no checkpoint ${options.since}`
      const known = knownHeads(options.since, anchors)
      const chains = await verifyChains(query, { anchors, known }, options.onProgress)
      return {
        ...summary(chains.reports, checkpoints.problem),
        checked: chains.checked,
        checkpoints: { ...checkpoints, compared: compared.length },
      }
    })
}

function summary(chains: ChainReport[], problem: string | null) {
  const entries = chains.reduce((sum, chain) => sum + chain.entries, 0)
  const broken = problem !== null || chains.some((chain) => chain.status === 'broken')
  return {
    status: broken ? ('broken' as const) : entries === 0 ? ('empty' as const) : ('ok' as const),
    entries,
    chains,
  }
}

type Read = {
  lastSeq: number
  hashes: ReadonlyMap<number, string>
  anchors: Anchors
}

/** What a checkpoint known outside of the database shows about it; one that is well-signed counts as an anchor too. */
function compareExternal(checkpoint: Checkpoint, seal: string | null, read: Read): string | null {
  const { seq } = checkpoint
  if (seal !== null) return `external checkpoint ${seq} ${seal}`
  const changed = addAnchors(read.anchors, checkpoint)
  if (seq > read.lastSeq) return `checkpoint ${seq} is known outside the database but missing in it`
  if (read.hashes.get(seq) !== checkpoint.hash)
    return `checkpoint ${seq} in the database is not the one known outside of it`
  return changed
}

/** Where each chain is to be verified from. */
function knownHeads(since: Options['since'], anchors: Anchors): ReadonlyMap<string, Head> {
  const known = new Map<string, Head>()
  if (typeof since === 'object') for (const head of since.heads) known.set(head.chainId, head)
  if (typeof since === 'number')
    for (const [chainId, sealed] of anchors)
      for (const { seq, hash, checkpoint } of sealed.values())
        if (checkpoint.seq <= since && seq > (known.get(chainId)?.seq ?? 0))
          known.set(chainId, { chainId, seq, hash })
  return known
}

type Wanted = { anchors: Anchors; known: ReadonlyMap<string, Head> }

async function verifyChains(
  query: Query,
  { anchors, known }: Wanted,
  onProgress?: Options['onProgress'],
): Promise<{ reports: ChainReport[]; checked: number }> {
  // In any of these a row of the baseline is missing or another one: the chain is read from its beginning.
  const heads = [...known.values()]
  const changed = new Map<string, Broken>()
  for (let at = 0; at < heads.length; at += batchSize)
    for (const { chainId, broken } of await findChangedSeals(query, heads.slice(at, at + batchSize)))
      changed.set(chainId, broken)
  const chainIds = await listChains(query, [...anchors.keys(), ...known.keys()])
  const reports: ChainReport[] = []
  let checked = 0
  for (const chainId of chainIds) {
    const head = known.get(chainId)
    const from = changed.has(chainId) ? undefined : head
    const sealed = new Map(anchors.get(chainId))
    if (head !== undefined && !sealed.has(head.seq))
      sealed.set(head.seq, { seq: head.seq, hash: head.hash, checkpoint: noCheckpoint })
    const onRows = (rows: number): void => {
      checked += rows
      onProgress?.({ rows: checked, chains: reports.length, ofChains: chainIds.length })
    }
    reports.push(await verifyChainFrom(query, { chainId, sealed, from, onRows }))
  }
  return { reports, checked }
}

// A head of the baseline whose checkpoint was not read.
const noCheckpoint: Seal['checkpoint'] = { seq: 0, signature: '', keyId: '', createdAt: '' }

/** Reads all checkpoints after the given place, checks their links and signatures, and collects what they seal. */
export async function readCheckpoints(
  db: Db | Tx,
  keys: readonly CheckpointKey[],
  anchors: Anchors,
  start: CheckpointPosition = beforeCheckpoints,
): Promise<Omit<AuditReport['checkpoints'], 'compared'> & { hashes: ReadonlyMap<number, string> }> {
  const query = queryOf(db)
  const hashes = new Map<number, string>()
  let problem: string | null = null
  if (start.seq > 0) {
    const [known] = await readCheckpointRange(query, { from: start.seq, to: start.seq }, 1)
    if (known?.hash !== start.hash) problem = `checkpoint ${start.seq} is missing or another one now`
    hashes.set(start.seq, known?.hash ?? '')
  }
  let [count, last] = [0, start]
  for (;;) {
    const range = { from: last.seq + 1, to: Number.MAX_SAFE_INTEGER }
    const checkpoints = await readCheckpointRange(query, range, batchSize)
    if (checkpoints.length === 0) return { count, lastSeq: last.seq, problem, hashes }
    for (const checkpoint of checkpoints) {
      problem ??= checkLink(checkpoint, last)
      const seal = checkSeal(checkpoint, keys)
      const contradiction =
        seal === null ? addAnchors(anchors, checkpoint) : `checkpoint ${checkpoint.seq} ${seal}`
      problem ??= contradiction
      count++
      hashes.set(checkpoint.seq, checkpoint.hash)
      last = { seq: checkpoint.seq, hash: checkpoint.hash }
    }
  }
}

/** Every chain that has a head, a row or a seal; one lookup per chain, however many rows they have. */
async function listChains(query: Query, sealed: readonly string[]): Promise<string[]> {
  const rows = await query<{ chainId: string }>(
    `with recursive logged as (
       (select chain_id from audit_logs order by chain_id limit 1)
       union all
       select (select l.chain_id from audit_logs l where l.chain_id > logged.chain_id order by l.chain_id limit 1)
       from logged where logged.chain_id is not null
     )
     select chain_id as "chainId" from audit_chains union select chain_id from logged where chain_id is not null`,
  )
  return [...new Set(rows.map((row) => row.chainId).concat(sealed))].toSorted()
}

/** Walks one chain from its first row; `sealed` holds what checkpoints say about it. Runs inside a snapshot. */
export const verifyChain = (
  tx: Db | Tx,
  chainId: string,
  sealed: ReadonlyMap<number, Seal>,
): Promise<ChainReport> => verifyChainFrom(queryOf(tx), { chainId, sealed })

type Chain = {
  chainId: string
  sealed: ReadonlyMap<number, Seal>
  from?: Head | undefined
  onRows?: (rows: number) => void
}

async function verifyChainFrom(query: Query, { chainId, sealed, from, onRows }: Chain): Promise<ChainReport> {
  const head = await findHead(query, chainId)
  const state =
    from === undefined
      ? { seq: 0, hash: genesisHash }
      : { seq: from.seq, hash: Buffer.from(from.hash, 'hex') }
  let broken: Broken | null = null
  while (broken === null) {
    const rows = await readRanges(query, [{ chainId, after: state.seq, to: Number.MAX_SAFE_INTEGER }])
    for (const row of rows) {
      broken = checkRow(row, state, sealed)
      if (broken !== null) break
    }
    onRows?.(rows.length)
    if (rows.length < batchSize) break
  }
  const lastSealed = [...sealed.keys()].reduce((most, seq) => Math.max(most, seq), 0)
  broken ??= checkHead(head, state, lastSealed)
  const seal = sealed.get(lastSealed)
  return {
    chainId,
    status: broken !== null ? 'broken' : state.seq === 0 ? 'empty' : 'ok',
    entries: state.seq,
    toSeq: state.seq,
    headHash: state.seq === 0 ? null : state.hash.toString('hex'),
    firstBrokenSeq: broken?.seq ?? null,
    reason: broken?.reason ?? null,
    seal: seal === undefined || seal.checkpoint === noCheckpoint ? null : seal,
  }
}

/** The head of a chain as its writers know it. */
export async function findHead(query: Query, chainId: string): Promise<ChainHead | undefined> {
  const [row] = await query<{ seq: string; hash: Buffer; checkpointedSeq: string }>(
    'select seq, hash, checkpointed_seq as "checkpointedSeq" from audit_chains where chain_id = $1',
    [chainId],
  )
  if (row === undefined) return undefined
  return { seq: Number(row.seq), hash: row.hash, checkpointedSeq: Number(row.checkpointedSeq) }
}
