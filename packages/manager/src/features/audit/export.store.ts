// Rows of the trail as exports show them, in the order of their chains: whoever reads on from a position misses nothing, for
// seq has no gap and a row that is committed later comes later.
import { systemChain } from '../../platform/audit/entry.ts'
import type { Snapshot } from '../../platform/postgres/snapshots.ts'
import type { ExportFilters, ExportRequest, Position } from './export.pure.ts'

/** In the order of an export's columns. */
export const exportColumns = [
  'chain_id',
  'seq',
  'id',
  'entity_type',
  'entity_id',
  'action',
  'description',
  'metadata',
  'changes',
  'form',
  'principal_type',
  'principal_id',
  'user_id',
  'ip_address',
  'user_agent',
  'created_at',
  'prev_hash',
  'hash',
] as const
type ExportColumn = (typeof exportColumns)[number]

/** How the columns are written whose own text is not what an export shows. */
const written: Partial<Record<ExportColumn, string>> = {
  created_at: `to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
  prev_hash: `encode(prev_hash, 'hex')`,
  hash: `encode(hash, 'hex')`,
}
const textOf = (name: ExportColumn): string => written[name] ?? name

const asTheyAre: ReadonlySet<ExportColumn> = new Set(['seq', 'metadata', 'changes', 'form'])
/** Ids, hashes and times have nothing to escape. */
const plainTexts: ReadonlySet<ExportColumn> = new Set(['chain_id', 'id', 'created_at', 'prev_hash', 'hash'])
function memberOf(name: ExportColumn, index: number): string {
  const key = `${index === 0 ? '{' : ','}"${name}":`
  if (asTheyAre.has(name)) return `'${key}', ${name}`
  if (plainTexts.has(name)) return `'${key}"', ${textOf(name)}, '"'`
  return `'${key}', coalesce(to_json(${name})::text, 'null')`
}
// Half the work of row_to_json, which asks of each value of each row what type it has.
const asJson = `concat(${exportColumns.map(memberOf).join(', ')}, '}') as line`
const asTexts = exportColumns.map((name) => `(${textOf(name)})::text as ${name}`).join(', ')

// A batch is what an export holds in memory. Its text stays below 128 KiB, from which on V8 makes large objects of texts.
const rowsPerBatch = 100

/**
 * A cursor is planned for its first rows, which the order of the chains has at once; of a window of time it would read all
 * that is outside too. Such an export is planned as a whole.
 */
export async function preferWindow(snapshot: Snapshot, { filters }: ExportRequest): Promise<void> {
  if (filters.from !== null || filters.to !== null)
    await snapshot.query('set local cursor_tuple_fraction = 1')
}

/** The matching rows as texts, in the order of the columns. */
export async function* streamRecords(
  snapshot: Snapshot,
  request: ExportRequest,
): AsyncGenerator<(string | null)[][], void, void> {
  const { text, values } = matching(request, asTexts)
  for await (const rows of snapshot.stream<Record<ExportColumn, string | null>>(text, values, rowsPerBatch))
    yield rows.map((row) => exportColumns.map((name) => row[name]))
}

/** The matching rows, each as a line of JSON that the database has made. */
export async function* streamEntries(
  snapshot: Snapshot,
  request: ExportRequest,
): AsyncGenerator<string[], void, void> {
  const { text, values } = matching(request, asJson)
  for await (const rows of snapshot.stream<{ line: string }>(text, values, rowsPerBatch))
    yield rows.map(({ line }) => line)
}

/** Where the next export begins, or null when this one has everything. Costs as many rows of the index as the limit has. */
export async function findNext(snapshot: Snapshot, request: ExportRequest): Promise<Position | null> {
  if (request.limit === null) return null
  const { text, values } = matching({ ...request, limit: null }, 'chain_id, seq')
  const [last, further] = await snapshot.query<{ chain_id: string; seq: string }>(
    `${text} offset ${request.limit - 1} limit 2`,
    values,
  )
  if (last === undefined || further === undefined) return null
  const systemSeq = request.after?.systemSeq ?? (await headOfSystem(snapshot))
  return { chainId: last.chain_id, seq: Number(last.seq), systemSeq }
}

async function headOfSystem(snapshot: Snapshot): Promise<number> {
  const [head] = await snapshot.query<{ seq: string }>('select seq from audit_chains where chain_id = $1', [
    systemChain,
  ])
  return Number(head?.seq ?? 0)
}

const conditions: Record<keyof ExportFilters, string> = {
  from: 'created_at >=',
  to: 'created_at <',
  projectId: 'chain_id =',
  entityType: 'entity_type =',
  entityId: 'entity_id =',
  action: 'action =',
  userId: 'user_id =',
}

/** The statement and its values: what callers send is a value, never a part of the text. */
function matching({ filters, limit, after }: ExportRequest, columns: string) {
  const values: (string | number)[] = []
  const place = (value: string | number): string => `$${values.push(value)}`
  const where = Object.entries(conditions).flatMap(([name, condition]) => {
    const value = filters[name as keyof ExportFilters]
    return value === null ? [] : [`${condition} ${place(value)}`]
  })
  if (after !== null) {
    where.push(`(chain_id, seq) > (${place(after.chainId)}, ${place(after.seq)})`)
    // Each export appends a row there: without a bound, one that goes on row by row would never end.
    where.push(`(chain_id <> '${systemChain}' or seq <= ${place(after.systemSeq)})`)
  }
  const filter = where.length === 0 ? '' : `where ${where.join(' and ')}`
  const bound = limit === null ? '' : `limit ${limit}`
  return {
    text: `select ${columns} from audit_logs ${filter} order by audit_logs.chain_id, audit_logs.seq ${bound}`,
    values,
  }
}
