// Reads stored audit rows and chain heads, and checks the rules that each must meet.
import { CompiledQuery } from 'kysely'
import type { Reads } from '../postgres/handles.ts'
import type { Checkpoint } from './checkpoint.ts'
import { type AuditEntry, type Principal, hashEntry, currentForm } from './entry.ts'

/** Runs a statement, either in a snapshot (its `query`) or on a database or transaction (`createQuery`). */
export type Query = <Row extends object>(text: string, values?: readonly unknown[]) => Promise<Row[]>

/** Returns a `Query` for this database or transaction. Statements must alias columns to the names they need. */
export const createQuery =
  (db: Reads): Query =>
  async <Row extends object>(text: string, values: readonly unknown[] = []) =>
    (await db.executeQuery<Row>(CompiledQuery.raw(text, [...values]))).rows

/** A position in a chain: every row up to this position is verified. */
export type Position = { seq: number; hash: Buffer }
/** The first invalid row of a chain, and the problem with that row. */
export type BrokenRow = { seq: number; reason: string }

/** A chain head in a signed checkpoint. */
export type Seal = {
  seq: number
  hash: string
  checkpoint: Pick<Checkpoint, 'seq' | 'signature' | 'keyId' | 'createdAt'>
}

type StoredRow = AuditEntry & { prevHash: Buffer; hash: Buffer }
/** The rows of a chain after `after`, up to and including `to`. */
export type Range = { chainId: string; after: number; to: number }

/** Maximum number of rows that one statement reads. */
export const batchSize = 1_000

/** Returns the first 1,000 rows of these ranges, in the order of the ranges. */
export async function readRanges(query: Query, ranges: readonly Range[]): Promise<StoredRow[]> {
  const rows = await query<StoredRow & StoredColumns>(
    `select l.chain_id as "chainId", l.seq, l.id, l.entity_type as "entityType", l.entity_id as "entityId", l.action,
       l.description, l.metadata, l.changes, l.form, l.principal_type as "principalType", l.principal_id as "principalId",
       l.user_id as "userId", l.ip_address as "ipAddress", l.user_agent as "userAgent", l.created_at as "createdAt",
       l.prev_hash as "prevHash", l.hash
     from unnest($1::uuid[], $2::bigint[], $3::bigint[]) with ordinality as r (chain_id, after, upto, position)
     cross join lateral (
       select * from audit_logs a where a.chain_id = r.chain_id and a.seq > r.after and a.seq <= r.upto
       order by a.seq limit ${batchSize}
     ) l order by r.position, l.seq limit ${batchSize}`,
    [ranges.map(({ chainId }) => chainId), ranges.map(({ after }) => after), ranges.map(({ to }) => to)],
  )
  return rows.map(parseEntry)
}

type StoredColumns = { seq: string; principalType: string | null; principalId: string | null }

/** Converts a table row to the entry that was hashed. */
export function parseEntry<Row extends { principalType: string | null; principalId: string | null }>({
  principalType,
  principalId,
  ...row
}: Row & { seq: string | number }) {
  const principal =
    principalType === null && principalId === null
      ? null
      : { type: principalType as Principal['type'], id: principalId ?? '' }
  return { ...row, seq: Number(row.seq), principal }
}

/** Advances the state past a valid row; for an invalid row, returns the problem and its seq. */
export function checkRow(
  row: StoredRow,
  state: Position,
  sealed: ReadonlyMap<number, Pick<Seal, 'hash'>>,
): BrokenRow | null {
  const seq = state.seq + 1
  if (row.seq !== seq) return { seq, reason: `row ${seq} is missing` }
  if (!row.prevHash.equals(state.hash)) return { seq, reason: `row ${seq} does not follow its predecessor` }
  // The hash of form 1 does not cover a principal, so a row of form 1 must not have one.
  if (row.form === 1 ? row.principal !== null : row.form !== currentForm || row.principal === null)
    return { seq, reason: `row ${seq} was changed` }
  if (!row.hash.equals(hashEntry(row, state.hash))) return { seq, reason: `row ${seq} was changed` }
  const seal = sealed.get(seq)
  if (seal !== undefined && seal.hash !== row.hash.toString('hex'))
    return { seq, reason: `row ${seq} differs from the row that a checkpoint sealed` }
  state.seq = seq
  state.hash = row.hash
  return null
}

/** The stored head of a chain; rows up to `checkpointedSeq` count as covered by a checkpoint. */
export type ChainHead = { seq: number; hash: Buffer; checkpointedSeq: number }
/** A chain head as the driver returns it, with bigint columns as strings. */
export type HeadRow = { chainId: string; seq: string; hash: Buffer; checkpointedSeq: string }
export const headColumns = 'chain_id as "chainId", seq, hash, checkpointed_seq as "checkpointedSeq"'

/** Converts a head row to the chain id and its head. */
export const parseHead = ({ chainId, ...row }: HeadRow): [string, ChainHead] => [
  chainId,
  { seq: Number(row.seq), hash: row.hash, checkpointedSeq: Number(row.checkpointedSeq) },
]

/** Returns the stored heads of these chains; chains without a head are missing from the map. */
export const readHeads = async (query: Query, chainIds: readonly string[]): Promise<Map<string, ChainHead>> =>
  new Map(
    (
      await query<HeadRow>(`select ${headColumns} from audit_chains where chain_id = any($1)`, [chainIds])
    ).map(parseHead),
  )

/**
 * Returns the problem with the head of a chain verified up to `state`; `lastSealed` is the last row that a checkpoint
 * covers.
 */
export function checkHead(
  head: ChainHead | null,
  state: Readonly<Position>,
  lastSealed: number,
): BrokenRow | null {
  const seq = head?.seq ?? 0
  if (lastSealed > state.seq)
    return { seq: state.seq + 1, reason: `rows are missing: a checkpoint sealed row ${lastSealed}` }
  if (seq !== state.seq)
    return { seq: Math.min(state.seq, seq) + 1, reason: `the chain's head has a different row count: ${seq}` }
  // Rows that count as covered are omitted from later checkpoints, so a false claim would leave them unprotected.
  if ((head?.checkpointedSeq ?? 0) > lastSealed)
    return { seq: lastSealed + 1, reason: `the chain's head refers to a checkpoint that does not exist` }
  if (head !== null && !head.hash.equals(state.hash))
    return { seq: state.seq, reason: "the chain's head has a different hash" }
  return null
}

/** Returns the signed heads whose rows are missing or now have a different hash, in the order of `seals`. */
export async function findChangedSeals(
  query: Query,
  seals: readonly { chainId: string; seq: number; hash: string }[],
): Promise<{ chainId: string; broken: BrokenRow }[]> {
  if (seals.length === 0) return []
  const rows = await query<{ position: string }>(
    `select s.position from unnest($1::uuid[], $2::bigint[], $3::text[]) with ordinality as s (chain_id, seq, hash, position)
     left join audit_logs l on l.chain_id = s.chain_id and l.seq = s.seq
     where l.hash is distinct from decode(s.hash, 'hex') order by s.position`,
    [seals.map(({ chainId }) => chainId), seals.map(({ seq }) => seq), seals.map(({ hash }) => hash)],
  )
  return rows.flatMap(({ position }) => {
    const seal = seals[Number(position) - 1]
    if (seal === undefined) return []
    const { chainId, seq } = seal
    return [{ chainId, broken: { seq, reason: `row ${seq} differs from the row that a checkpoint sealed` } }]
  })
}
