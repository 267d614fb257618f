import { CompiledQuery, sql } from 'kysely'
import type { Queries, Tx } from '../../platform/postgres/handles.ts'
import type { Snapshot } from '../../platform/postgres/snapshots.ts'
import type { Flag, Group } from './flags.pure.ts'
import {
  selectAllEntries,
  selectFirstEntries,
  population,
  populationHash,
  selectSummary,
} from './population.store.ts'

/** A row of the report. The column names are the field names of the API response. */
export type EntryRow = {
  entry_id: string
  principal_type: string
  principal_id: string
  name: string
  email: string
  scope_type: string
  scope_id: string | null
  scope_name: string
  project_id: string | null
  project_name: string | null
  role: string
  enabled: boolean
  granted_at: string | null
  granted_by: string | null
  last_activity_at: string | null
  expires_at: string | null
  flags: Flag[]
  attestation_id: string | null
  decision: string | null
  attested_at: string | null
  attested_by: string | null
}

export type SummaryRow = {
  hash: string
  count: number
  generated_at: string
  activity_recorded_since: string
  principals: number
  principals_by_scope: Record<string, number>
  groups: Group[]
  roles: { scope_type: string; role: string; entries: number }[]
}

/** Returns the name of the project in the snapshot, or undefined if the project does not exist. */
export async function findProjectName(snapshot: Snapshot, projectId: string): Promise<string | undefined> {
  const [row] = await snapshot.query<{ name: string }>('select name from projects where id = $1', [projectId])
  return row?.name
}

/** Returns the aggregates over the population. The query reads every entry. */
export async function readSummary(
  snapshot: Snapshot,
  projectId: string | null,
  maxRoles: number,
): Promise<SummaryRow> {
  // The query reads all rows, so the planner must minimize the total cost instead of the cost of the first rows.
  await snapshot.query('set local cursor_tuple_fraction = 1')
  const [row] = await snapshot.query<SummaryRow>(selectSummary, [projectId, maxRoles])
  if (row === undefined) throw new Error('the summary query returned no row')
  return row
}

// Batches of this size are small enough to be freed in the young generation of the garbage collector.
const batchSize = 200

/** Streams all entries in batches. */
export const streamEntries = (snapshot: Snapshot, projectId: string | null): AsyncGenerator<EntryRow[]> =>
  snapshot.stream<EntryRow>(selectAllEntries, [projectId], batchSize)

/** Returns the first `limit` entries, ordered by the rank of their flags. */
export const readFirstEntries = (
  snapshot: Snapshot,
  projectId: string | null,
  limit: number,
  ranks: ReadonlyMap<string, number>,
): Promise<EntryRow[]> =>
  snapshot.query<EntryRow>(selectFirstEntries, [projectId, limit, [...ranks.keys()], [...ranks.values()]])

export type Report = { id: string; projectId: string | null; populationHash: string; entries: number }

export async function insertReport(tx: Tx, report: Report, createdBy: string): Promise<void> {
  const populationHash = Buffer.from(report.populationHash, 'hex')
  await tx
    .insertInto('accessReviews')
    .values({ ...report, populationHash, createdBy })
    .execute()
}

export async function findReport(tx: Tx, id: string): Promise<Report | undefined> {
  const row = await tx
    .selectFrom('accessReviews')
    .select(['id', 'projectId', 'populationHash', 'entries'])
    .where('id', '=', id)
    .executeTakeFirst()
  return row && { ...row, populationHash: row.populationHash.toString('hex') }
}

/** Deletes reports that are older than 400 days and have no attestation. Returns the number of deleted reports. */
export async function deleteOldReports(db: Queries, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from access_reviews where id in (
      select r.id from access_reviews r
      where r.created_at < now() - interval '400 days'
        and not exists (select from access_attestations a where a.report_id = r.id)
      order by r.created_at limit ${limit})`.execute(db)
  return Number(numAffectedRows ?? 0)
}

/** Serializes attestations, so that each entry keeps its newest attestation. Returns the current time. */
export async function lockAttestations(tx: Tx): Promise<string> {
  await sql`select pg_advisory_xact_lock(hashtext('access-attestations'))`.execute(tx)
  const { rows } = await sql<{ now: string }>`select clock_timestamp()::timestamptz(3) as now`.execute(tx)
  return rows[0]?.now ?? ''
}

export type AttestationValues = {
  attestationId: string
  projectId: string | null
  chainId: string
  decision: string
  /** The expected hashes of the population. The actual hash must be equal to each of them. */
  expectedHashes: readonly string[]
  /** Null if the attestation covers every entry of the population. */
  entries: readonly { entryId: string; decision: string }[] | null
}
export type AttestationResult = {
  hash: string
  count: number
  attested: number
  unknown: string | null
  seq: string
}

/**
 * Records the decision for each attested entry, unless the hash of the population differs from an expected
 * hash. Returns the hash and the size of the population, and the last sequence number of the chain. One
 * statement reads all these values from the same snapshot.
 */
export async function attestEntries(
  tx: Tx,
  attestationValues: AttestationValues,
): Promise<AttestationResult> {
  const coversAll = attestationValues.entries === null
  const text = `
    with entry as materialized (select entry_id, enabled, expires_at, permits from (${population}) p),
    hashed as (${populationHash}),
    wanted as (select * from unnest($5::text[], $6::text[]) as w (entry_id, decision)),
    chosen as (
      select decode(e.entry_id, 'hex') as entry_id, coalesce(w.decision, $3) as decision
      from entry e ${coversAll ? 'left' : ''} join wanted w on w.entry_id = e.entry_id
      where (select hash from hashed) = all($4::text[]) order by 1
    ),
    noted as (
      insert into access_entry_attestations (entry_id, attestation_id, decision)
      select entry_id, $2, decision from chosen
      on conflict (entry_id) do update set attestation_id = excluded.attestation_id, decision = excluded.decision
      returning 1
    )
    select hash, count, (select count(*)::int from noted) as attested,
      (select w.entry_id from wanted w where not exists (select from entry e where e.entry_id = w.entry_id)
        order by 1 limit 1) as unknown,
      coalesce((select seq from audit_chains where chain_id = $7), 0)::int8 as seq
    from hashed`
  const { rows } = await tx.executeQuery<AttestationResult>(
    CompiledQuery.raw(text, [
      attestationValues.projectId,
      attestationValues.attestationId,
      attestationValues.decision,
      attestationValues.expectedHashes,
      attestationValues.entries?.map(({ entryId }) => entryId) ?? [],
      attestationValues.entries?.map(({ decision }) => decision) ?? [],
      attestationValues.chainId,
    ]),
  )
  const [row] = rows
  if (row === undefined) throw new Error('the attestation query returned no row')
  return row
}

/**
 * Locks only the head of this chain. Returns whether the chain contains a later change to an entity of one of these
 * types.
 */
export async function hasChangedSince(
  tx: Tx,
  { chainId, seq }: { chainId: string; seq: string },
  entityTypes: readonly string[],
): Promise<boolean> {
  await tx.selectFrom('auditChains').select('seq').where('chainId', '=', chainId).forUpdate().execute()
  const row = await tx
    .selectFrom('auditLogs')
    .select('seq')
    .where('chainId', '=', chainId)
    .where('seq', '>', seq)
    .where('entityType', 'in', entityTypes)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

export type Attestation = {
  id: string
  createdAt: string
  createdBy: string
  reportId: string | null
  projectId: string | null
  populationHash: string
  decision: 'approve' | 'revoke' | 'modify'
  comment: string
  entries: number
  namesEntries: boolean
}
export type AttestedEntry = { entryId: string; decision: string; justification: string }

/** Inserts the attestation and its decisions on individual entries, in two statements. */
export async function insertAttestation(
  tx: Tx,
  attestation: Attestation,
  entries: readonly AttestedEntry[],
): Promise<void> {
  const populationHash = Buffer.from(attestation.populationHash, 'hex')
  await tx
    .insertInto('accessAttestations')
    .values({ ...attestation, populationHash })
    .execute()
  if (entries.length === 0) return
  const getColumn = (name: keyof AttestedEntry) => entries.map((entry) => entry[name])
  await sql`
    insert into access_attestation_entries (attestation_id, entry_id, decision, justification)
    select ${attestation.id}, decode(e.entry_id, 'hex'), e.decision, e.justification
    from unnest(${getColumn('entryId')}::text[], ${getColumn('decision')}::text[], ${getColumn('justification')}::text[])
      as e (entry_id, decision, justification)`.execute(tx)
}
