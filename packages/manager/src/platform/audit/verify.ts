// Verifies the whole audit trail in one snapshot, or everything after a checkpoint that is known.
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
  type Broken,
  type ChainHead,
  type Query,
  type Seal,
  batchSize,
  findChangedSeals,
  queryOf,
  readHeads,
} from './rows.ts'
import {
  type Seals,
  type Walk,
  checkHeads,
  isDone,
  lastSealed,
  walkChains,
  walkCheckpoints,
  walkFrom,
  walkTrail,
} from './walker.ts'

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
  /** Rows that were read and hashed. */
  checked: number
  chains: ChainReport[]
  /** `compared` counts the external checkpoints. */
  checkpoints: { count: number; lastSeq: number; problem: string | null; compared: number }
}

/** A verified state: the heads of all chains at a checkpoint. */
export type Baseline = { checkpoint: CheckpointPosition; heads: readonly Head[] }

type Options = {
  /** Checkpoints kept outside the database, for example from the log stream. */
  external?: readonly Checkpoint[]
  /** Verifies only what came after it: the number of a checkpoint, or the heads at one. */
  since?: number | Baseline
  onProgress?: (done: { rows: number; chains: number; ofChains: number }) => void
}

type External = { checkpoint: Checkpoint; seal: string | null }
type Known = { keys: readonly CheckpointKey[]; external: readonly External[]; options: Options }

/** Reads the trail in one snapshot: one pass over all rows, with every sealed head in memory. */
export function verifyAudit(
  db: Db,
  keys: readonly CheckpointKey[],
  options: Options = {},
): Promise<AuditReport> {
  // Before the transaction, which would be idle during the check.
  const external = (options.external ?? []).map((checkpoint) => ({
    checkpoint,
    seal: checkSeal(checkpoint, keys),
  }))
  return db.transaction((tx) => verifySnapshot(queryOf(tx), { keys, external, options }), {
    isSnapshot: true,
    // It reports progress.
    runsOnce: true,
  })
}

async function verifySnapshot(query: Query, known: Known): Promise<AuditReport> {
  const { keys, external, options } = known
  const start = typeof options.since === 'object' ? options.since.checkpoint : beforeCheckpoints
  // Checkpoints before the baseline are not read.
  const compared = external.filter(({ checkpoint, seal }) => seal !== null || checkpoint.seq >= start.seq)
  const checkpoints = { count: 0, lastSeq: 0, problem: null as string | null, compared: compared.length }
  const chains: ChainReport[] = []
  let [checked, ofChains] = [0, 0]
  const onRows = (rows: number, walks: readonly ChainWalk[]): void => {
    checked += rows
    options.onProgress?.({ rows: checked, chains: chains.length + walks.filter(isDone).length, ofChains })
  }
  await walkTrail<ChainWalk>({ query, keys }, { checkpoint: start, onRows }, async function* (seals) {
    const { hashes, anchors, last, first } = seals
    checkpoints.count = hashes.size
    checkpoints.lastSeq = last.seq
    hashes.set(start.seq, first?.hash ?? '')
    const difference = compareKnown({ ...known, external: compared }, start, seals)
    checkpoints.problem = seals.problem ?? difference
    const heads = knownHeads(options.since, anchors)
    const chainIds = await listChains(query, [...anchors.keys(), ...heads.keys()])
    ofChains = chainIds.length
    for (let at = 0; at < ofChains; at += batchSize) {
      const walks = await listWalks(query, chainIds.slice(at, at + batchSize), { anchors, known: heads })
      yield walks
      chains.push(...walks.map((walk) => reportWalk(walk, walk.broken, walk.seal)))
    }
  })
  const entries = chains.reduce((sum, chain) => sum + chain.entries, 0)
  const isBroken = checkpoints.problem !== null || chains.some(({ status }) => status === 'broken')
  const status = isBroken ? 'broken' : entries === 0 ? 'empty' : 'ok'
  return { status, entries, chains, checked, checkpoints }
}

/** Compares the checkpoints of the database with what is known without it; returns the first difference. */
function compareKnown(
  { keys, external, options: { since } }: Known,
  start: CheckpointPosition,
  seals: Seals,
): string | null {
  // All of them, because each adds anchors.
  const differences = external.map((one) => compareExternal(one, seals))
  let problem = differences.find((difference) => difference !== null) ?? null
  for (const { last } of keys)
    if (last !== undefined && last.seq >= start.seq && seals.hashes.get(last.seq) !== last.hash)
      problem ??= `checkpoint ${last.seq} is not the last one that a former key signed`
  if (typeof since === 'number' && since > seals.last.seq) problem ??= `there is no checkpoint ${since}`
  return problem
}

/** Compares an external checkpoint; a well-signed one is an anchor too. */
function compareExternal({ checkpoint, seal }: External, { anchors, hashes, last }: Seals): string | null {
  const { seq, hash } = checkpoint
  if (seal !== null) return `external checkpoint ${seq} ${seal}`
  const contradiction = addAnchors(anchors, checkpoint)
  if (seq > last.seq) return `checkpoint ${seq} is known outside the database but missing in it`
  return hashes.get(seq) === hash
    ? contradiction
    : `checkpoint ${seq} in the database is not the one known outside of it`
}

/** The heads after which chains are verified. */
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

/** A walk to the last row of a chain, and the newest checkpoint that sealed it. */
type ChainWalk = Walk & { seal: Seal | null }
type Sealed = ReadonlyMap<number, Seal>

async function listWalks(
  query: Query,
  chainIds: readonly string[],
  { anchors, known }: { anchors: ReadonlyMap<string, Sealed>; known: ReadonlyMap<string, Head> },
): Promise<ChainWalk[]> {
  const heads = await readHeads(query, chainIds)
  const starts = chainIds.flatMap((chainId) => known.get(chainId) ?? [])
  const changed = new Set((await findChangedSeals(query, starts)).map(({ chainId }) => chainId))
  return chainIds.map((chainId): ChainWalk => {
    const [from, sealed] = [known.get(chainId), anchors.get(chainId) ?? new Map<number, Seal>()]
    const chain = { chainId, to: Infinity, head: heads.get(chainId) ?? null }
    const seal = sealed.get(Math.max(from?.seq ?? 0, lastSealed(sealed))) ?? null
    if (from === undefined) return { ...walkFrom(undefined, { ...chain, sealed }), seal }
    const { seq, hash } = from
    // If the known row is missing or another one, the chain is read from its first row.
    const position = changed.has(chainId) ? undefined : { seq, hash: Buffer.from(hash, 'hex') }
    const wanted = new Map<number, Pick<Seal, 'seq' | 'hash'>>([[seq, from], ...sealed])
    if (position !== undefined) for (const passed of wanted.keys()) if (passed <= seq) wanted.delete(passed)
    return { ...walkFrom(position, { ...chain, sealed: wanted }), seal }
  })
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

/** The verdict on a chain as far as it was walked. */
export const reportWalk = (
  { chainId, state }: Walk,
  broken: Broken | null,
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

/** Checks all checkpoints, and adds the heads that they seal to the anchors. */
export const readCheckpoints = (
  db: Reads,
  keys: readonly CheckpointKey[],
  anchors: Anchors,
): Promise<Seals> => walkCheckpoints({ query: queryOf(db), keys, anchors }, { checkpoint: beforeCheckpoints })

/** Verifies one chain against the heads that checkpoints sealed. Runs inside a snapshot. */
export async function verifyChain(db: Reads, chainId: string, sealed: Sealed): Promise<ChainReport> {
  const query = queryOf(db)
  const [walk] = await listWalks(query, [chainId], {
    anchors: new Map([[chainId, sealed]]),
    known: new Map(),
  })
  if (walk === undefined) throw new Error('one chain was asked for')
  await walkChains(query, [walk])
  checkHeads([walk])
  return reportWalk(walk, walk.broken, walk.seal)
}

/** The head of a chain as its writers left it. */
export const findHead = async (query: Query, chainId: string): Promise<ChainHead | undefined> =>
  (await readHeads(query, [chainId])).get(chainId)
