// The rows of a chain as they are stored, and the rules that each must meet. Every way of verification goes through here.
import { setImmediate } from 'node:timers/promises'
import { CompiledQuery } from 'kysely'
import type { Db, Tx } from '../db/database.ts'
import type { Checkpoint } from './checkpoint.ts'
import { type AuditEntry, type Principal, hashEntry, presentForm } from './entry.ts'

/** Runs a statement; a snapshot's `query` is one, and so is `queryOf` a database or transaction. */
export type Query = <Row extends object>(text: string, values?: readonly unknown[]) => Promise<Row[]>

/** Statements of this database or transaction. Columns must be named as they are wanted. */
export const queryOf =
  (db: Db | Tx): Query =>
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
type Range = { chainId: string; after: number; to: number }

/** Rows that one statement reads. */
export const batchSize = 1_000
/** Rows that are hashed before other work of the process has its turn. */
const sliceSize = 50

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

/** What is wrong with the head of a chain whose last row the state stands at; `lastSealed` is the last row sealed. */
export function checkHead(
  head: ChainHead | undefined,
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
  if (head !== undefined && !head.hash.equals(state.hash))
    return { seq: state.seq, reason: "the chain's head has another hash" }
  return null
}

/** A chain on its way to a row that must be there. */
export type Walk = {
  chainId: string
  state: Position
  to: number
  sealed: ReadonlyMap<number, Pick<Seal, 'hash'>>
  broken: Broken | null
}

/** Walks the chains in their order, over at most `maxRows` rows; returns how many it took. */
export async function walkChains(query: Query, walks: readonly Walk[], maxRows: number): Promise<number> {
  let [taken, checked] = [0, 0]
  for (;;) {
    const going = nextRanges(walks, Math.min(batchSize, maxRows - taken))
    if (going.length === 0) return taken
    const rows = await readRanges(query, going)
    const ofChain = Map.groupBy(rows, ({ chainId }) => chainId)
    for (const { walk, after, to } of going) {
      for (const row of ofChain.get(walk.chainId) ?? []) {
        if (++checked % sliceSize === 0) await setImmediate()
        walk.broken = checkRow(row, walk.state, walk.sealed)
        if (walk.broken !== null) break
      }
      if (walk.broken === null && walk.state.seq < to) walk.broken = missingRows(walk)
      taken += to - after
    }
  }
}

const missingRows = ({ state, to }: Walk): Broken => ({
  seq: state.seq + 1,
  reason: `rows are missing: there were ${to}`,
})

function nextRanges(walks: readonly Walk[], maxRows: number): (Range & { walk: Walk })[] {
  const ranges: (Range & { walk: Walk })[] = []
  let left = maxRows
  for (const walk of walks) {
    if (left <= 0) break
    if (walk.broken !== null || walk.state.seq >= walk.to) continue
    const to = Math.min(walk.to, walk.state.seq + left)
    ranges.push({ walk, chainId: walk.chainId, after: walk.state.seq, to })
    left -= to - walk.state.seq
  }
  return ranges
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
