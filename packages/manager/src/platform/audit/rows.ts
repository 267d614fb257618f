// The rows and heads of chains as they are stored, and the rules that each must meet.
import { CompiledQuery } from 'kysely'
import type { Reads } from '../postgres/handles.ts'
import type { Checkpoint } from './checkpoint.ts'
import { type AuditEntry, type Principal, hashEntry, presentForm } from './entry.ts'

/** Runs a statement; a snapshot's `query` is one, and so is `queryOf` a database or transaction. */
export type Query = <Row extends object>(text: string, values?: readonly unknown[]) => Promise<Row[]>

/** Statements of this database or transaction. Columns must be named as they are wanted. */
export const queryOf =
  (db: Reads): Query =>
  async <Row extends object>(text: string, values: readonly unknown[] = []) =>
    (await db.executeQuery<Row>(CompiledQuery.raw(text, [...values]))).rows

/** A place in a chain: everything up to here is verified. */
export type Position = { seq: number; hash: Buffer }
export type Broken = { seq: number; reason: string }

/** A head of a chain as a checkpoint sealed it. */
export type Seal = {
  seq: number
  hash: string
  checkpoint: Pick<Checkpoint, 'seq' | 'signature' | 'keyId' | 'createdAt'>
}

type StoredRow = AuditEntry & { prevHash: Buffer; hash: Buffer }
export type Range = { chainId: string; after: number; to: number }

/** Rows that one statement reads. */
export const batchSize = 1_000

/** The first rows of these ranges, in their order: at most 1,000. */
export async function readRanges(query: Query, ranges: readonly Range[]): Promise<StoredRow[]> {
  const rows = await query<StoredRow & Stored>(
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
  return rows.map(storedEntry)
}

type Stored = { seq: string; principalType: string | null; principalId: string | null }

/** A row of the table as the entry that was hashed. */
export function storedEntry<Row extends { principalType: string | null; principalId: string | null }>({
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

/** Moves the state past the row, or returns what is wrong with it and at which seq. */
export function checkRow(
  row: StoredRow,
  state: Position,
  sealed: ReadonlyMap<number, Pick<Seal, 'hash'>>,
): Broken | null {
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

export type ChainHead = { seq: number; hash: Buffer; checkpointedSeq: number }
export type HeadRow = { chainId: string; seq: string; hash: Buffer; checkpointedSeq: string }
export const headColumns = 'chain_id as "chainId", seq, hash, checkpointed_seq as "checkpointedSeq"'

/** A row of the heads as the chain and its head. */
export const headOf = ({ chainId, ...row }: HeadRow): [string, ChainHead] => [
  chainId,
  { seq: Number(row.seq), hash: row.hash, checkpointedSeq: Number(row.checkpointedSeq) },
]

/** The heads of these chains as their writers left them. */
export const readHeads = async (query: Query, chainIds: readonly string[]): Promise<Map<string, ChainHead>> =>
  new Map(
    (
      await query<HeadRow>(`select ${headColumns} from audit_chains where chain_id = any($1)`, [chainIds])
    ).map(headOf),
  )

/** What is wrong with the head of a chain whose last row the state stands at; `lastSealed` is the last row sealed. */
export function checkHead(
  head: ChainHead | null,
  state: Readonly<Position>,
  lastSealed: number,
): Broken | null {
  const seq = head?.seq ?? 0
  if (lastSealed > state.seq)
    return { seq: state.seq + 1, reason: `rows are missing: a checkpoint sealed ${lastSealed}` }
  if (seq !== state.seq)
    return { seq: Math.min(state.seq, seq) + 1, reason: `the chain's head says ${seq} rows` }
  // What counts as sealed is not sealed again.
  if ((head?.checkpointedSeq ?? 0) > lastSealed)
    return { seq: lastSealed + 1, reason: `the chain's head claims a checkpoint that there is not` }
  if (head !== null && !head.hash.equals(state.hash))
    return { seq: state.seq, reason: "the chain's head has another hash" }
  return null
}

/** Those of these sealed rows that are missing or others now, in their order. */
export async function findChangedSeals(
  query: Query,
  seals: readonly { chainId: string; seq: number; hash: string }[],
): Promise<{ chainId: string; broken: Broken }[]> {
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
    return [{ chainId, broken: { seq, reason: `row ${seq} is not the one a checkpoint sealed` } }]
  })
}
