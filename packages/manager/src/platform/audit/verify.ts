// Verifies the audit trail: every row, every link, and every checkpoint against the rows it sealed.
import type { Db, Tx } from '../db/database.ts'
import type { VerifyingKey } from '../secrets/keys.ts'
import { type Checkpoint, type Head, hashCheckpoint } from './checkpoint.ts'
import { type AuditEntry, type Principal, genesisHash, hashEntry, presentForm } from './entry.ts'

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

/** A head of a chain as a checkpoint sealed it. */
export type Seal = {
  seq: number
  hash: string
  checkpoint: Pick<Checkpoint, 'seq' | 'signature' | 'keyId' | 'createdAt'>
}

export type AuditReport = {
  status: 'ok' | 'broken' | 'empty'
  entries: number
  chains: ChainReport[]
  checkpoints: { count: number; lastSeq: number; problem: string | null }
}

/** For each chain, the heads that checkpoints sealed, by seq. */
export type Anchors = Map<string, Map<number, Seal>>

/** A key of checkpoints; a retired one counts up to the last checkpoint that it signed, and for no other history. */
export type CheckpointKey = VerifyingKey & { last?: { seq: number; hash: string } }

const batchSize = 1_000

type Options = {
  /** Checkpoints kept outside the database, for example from the log stream. */
  external?: readonly Checkpoint[]
  onChain?: (done: number, all: number) => void
}

/** Reads the whole trail in one snapshot: one pass over all rows, and every sealed head in memory. */
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
      const anchors: Anchors = new Map()
      const { hashes, ...checkpoints } = await readCheckpoints(tx, keys, anchors)
      for (const { checkpoint, seal } of external) {
        if (seal !== null) checkpoints.problem ??= `external checkpoint ${checkpoint.seq} ${seal}`
        else if (checkpoint.seq > checkpoints.lastSeq)
          checkpoints.problem ??= `checkpoint ${checkpoint.seq} is known outside the database but missing in it`
        else if (hashes.get(checkpoint.seq) !== checkpoint.hash)
          checkpoints.problem ??= `checkpoint ${checkpoint.seq} in the database is not the one known outside of it`
        addAnchors(anchors, checkpoint)
      }
      for (const { last } of keys)
        if (last !== undefined && hashes.get(last.seq) !== last.hash)
          checkpoints.problem ??= `checkpoint ${last.seq} is not the last one that a former key signed`
      const chainIds = await listChains(tx, anchors)
      const chains: ChainReport[] = []
      for (const chainId of chainIds) {
        chains.push(await verifyChain(tx, chainId, anchors.get(chainId) ?? new Map()))
        options.onChain?.(chains.length, chainIds.length)
      }
      const entries = chains.reduce((sum, chain) => sum + chain.entries, 0)
      const broken = checkpoints.problem !== null || chains.some((chain) => chain.status === 'broken')
      return { status: broken ? 'broken' : entries === 0 ? 'empty' : 'ok', entries, chains, checkpoints }
    })
}

/** Reads all checkpoints, checks their links and signatures, and collects what they seal. */
export async function readCheckpoints(
  db: Db | Tx,
  keys: readonly CheckpointKey[],
  anchors: Anchors,
): Promise<AuditReport['checkpoints'] & { hashes: ReadonlyMap<number, string> }> {
  const hashes = new Map<number, string>()
  let [count, lastSeq, lastHash] = [0, 0, genesisHash.toString('hex')]
  let problem: string | null = null
  for (;;) {
    const rows = await db
      .selectFrom('auditCheckpoints')
      .select(['seq', 'createdAt', 'heads', 'prevHash', 'hash', 'signature', 'keyId'])
      .where('seq', '>', String(lastSeq))
      .orderBy('seq')
      .limit(batchSize)
      .execute()
    if (rows.length === 0) return { count, lastSeq, problem, hashes }
    for (const row of rows) {
      const checkpoint: Checkpoint = {
        seq: Number(row.seq),
        createdAt: row.createdAt,
        heads: row.heads as Head[],
        prevHash: row.prevHash.toString('hex'),
        hash: row.hash.toString('hex'),
        signature: row.signature.toString('base64'),
        keyId: row.keyId,
      }
      if (checkpoint.seq !== lastSeq + 1) problem ??= `checkpoint ${lastSeq + 1} is missing`
      else if (checkpoint.prevHash !== lastHash)
        problem ??= `checkpoint ${checkpoint.seq} does not follow its predecessor`
      const seal = checkSeal(checkpoint, keys)
      if (seal !== null) problem ??= `checkpoint ${checkpoint.seq} ${seal}`
      else addAnchors(anchors, checkpoint)
      count++
      hashes.set(checkpoint.seq, checkpoint.hash)
      lastSeq = checkpoint.seq
      lastHash = checkpoint.hash
    }
  }
}

function checkSeal(checkpoint: Checkpoint, keys: readonly CheckpointKey[]): string | null {
  const hash = hashCheckpoint(checkpoint)
  if (hash.toString('hex') !== checkpoint.hash) return 'was changed'
  const key = keys.find(({ keyId }) => keyId === checkpoint.keyId)
  if (key?.last !== undefined && checkpoint.seq > key.last.seq)
    return `is signed with the key ${checkpoint.keyId}, which was retired before`
  if (key === undefined) return `is signed with the unknown key ${checkpoint.keyId}`
  return key.verify(hash, Buffer.from(checkpoint.signature, 'base64')) ? null : 'has a false signature'
}

function addAnchors(anchors: Anchors, { heads, ...checkpoint }: Checkpoint): void {
  for (const { chainId, seq, hash } of heads) {
    let ofChain = anchors.get(chainId)
    if (ofChain === undefined) anchors.set(chainId, (ofChain = new Map()))
    ofChain.set(seq, { seq, hash, checkpoint })
  }
}

async function listChains(tx: Tx, anchors: Anchors): Promise<string[]> {
  const heads = await tx.selectFrom('auditChains').select('chainId').execute()
  const logged = await tx.selectFrom('auditLogs').select('chainId').distinct().execute()
  return [...new Set([...heads, ...logged].map((row) => row.chainId).concat([...anchors.keys()]))].toSorted()
}

/** Walks one chain from its first row; `sealed` holds what checkpoints say about it. Runs inside a snapshot. */
export async function verifyChain(
  tx: Db | Tx,
  chainId: string,
  sealed: ReadonlyMap<number, Seal>,
): Promise<ChainReport> {
  const head = await tx
    .selectFrom('auditChains')
    .select(['seq', 'hash', 'checkpointedSeq'])
    .where('chainId', '=', chainId)
    .executeTakeFirst()
  const state = { seq: 0, hash: genesisHash }
  let broken: { seq: number; reason: string } | null = null
  while (broken === null) {
    const rows = await readRows(tx, chainId, state.seq)
    for (const row of rows) {
      broken = checkRow(row, state, sealed)
      if (broken !== null) break
    }
    if (rows.length < batchSize) break
  }
  const lastSealed = [...sealed.keys()].reduce((most, seq) => Math.max(most, seq), 0)
  if (broken === null && lastSealed > state.seq)
    broken = { seq: state.seq + 1, reason: `rows are missing: a checkpoint sealed ${lastSealed}` }
  if (broken === null && Number(head?.seq ?? 0) !== state.seq)
    broken = {
      seq: Math.min(state.seq, Number(head?.seq ?? 0)) + 1,
      reason: `the chain's head says ${head?.seq ?? 0} rows`,
    }
  // What counts as sealed is not sealed again.
  if (broken === null && Number(head?.checkpointedSeq ?? 0) > lastSealed)
    broken = { seq: lastSealed + 1, reason: `the chain's head claims a checkpoint that there is not` }
  if (broken === null && head !== undefined && !head.hash.equals(state.hash))
    broken = { seq: state.seq, reason: "the chain's head has another hash" }
  return {
    chainId,
    status: broken !== null ? 'broken' : state.seq === 0 ? 'empty' : 'ok',
    entries: state.seq,
    toSeq: state.seq,
    headHash: state.seq === 0 ? null : state.hash.toString('hex'),
    firstBrokenSeq: broken?.seq ?? null,
    reason: broken?.reason ?? null,
    seal: sealed.get(lastSealed) ?? null,
  }
}

type StoredRow = AuditEntry & { prevHash: Buffer; hash: Buffer }

async function readRows(tx: Db | Tx, chainId: string, afterSeq: number): Promise<StoredRow[]> {
  const rows = await tx
    .selectFrom('auditLogs')
    .select([
      'chainId',
      'seq',
      'id',
      'entityType',
      'entityId',
      'action',
      'description',
      'metadata',
      'changes',
    ])
    .select([
      'form',
      'principalType',
      'principalId',
      'userId',
      'ipAddress',
      'userAgent',
      'createdAt',
      'prevHash',
      'hash',
    ])
    .where('chainId', '=', chainId)
    .where('seq', '>', String(afterSeq))
    .orderBy('seq')
    .limit(batchSize)
    .execute()
  return rows.map(storedEntry)
}

type Stored = { seq: string; principalType: string | null; principalId: string | null }

/** A row of the table as the entry that was hashed. */
export function storedEntry<Row extends Stored>({ principalType, principalId, ...row }: Row) {
  const principal =
    principalType === null && principalId === null
      ? null
      : { type: principalType as Principal['type'], id: principalId ?? '' }
  return { ...row, seq: Number(row.seq), principal }
}

/** Moves the state past the row, or returns what is wrong with it and at which seq. */
function checkRow(
  row: StoredRow,
  state: { seq: number; hash: Buffer },
  sealed: ReadonlyMap<number, Seal>,
): { seq: number; reason: string } | null {
  const seq = state.seq + 1
  if (row.seq !== seq) return { seq, reason: `row ${seq} is missing` }
  if (!row.prevHash.equals(state.hash)) return { seq, reason: `row ${seq} does not follow its predecessor` }
  // The first form does not hash a principal, so it must not show one.
  if (row.form === 1 ? row.principal !== null : row.form !== presentForm || row.principal === null)
    return { seq, reason: `row ${seq} was changed` }
  if (!row.hash.equals(hashEntry(row, state.hash))) return { seq, reason: `row ${seq} was changed` }
  const seal = sealed.get(seq)
  if (seal !== undefined && seal.hash !== row.hash.toString('hex'))
    return { seq, reason: `row ${seq} is not the one a checkpoint sealed` }
  state.seq = seq
  state.hash = row.hash
  return null
}
