// Exports order rows by chain and position. A client that resumes from a position misses no rows: positions have no
// gaps, and later commits get higher positions.
import { systemChain } from '../../platform/audit/entry.ts'
import type { Snapshot } from '../../platform/postgres/snapshots.ts'
import type { ExportFilters, ExportRequest, Position } from './export.pure.ts'

/** The columns of an export, in order. */
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

/** SQL expressions for columns whose stored format differs from the exported text. */
const textExpressions: Partial<Record<ExportColumn, string>> = {
  created_at: `to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
  prev_hash: `encode(prev_hash, 'hex')`,
  hash: `encode(hash, 'hex')`,
}
const getTextExpression = (name: ExportColumn): string => textExpressions[name] ?? name

const unquotedColumns: ReadonlySet<ExportColumn> = new Set(['seq', 'metadata', 'changes', 'form'])
/** Ids, hashes and times contain no characters to escape. */
const plainTextColumns: ReadonlySet<ExportColumn> = new Set([
  'chain_id',
  'id',
  'created_at',
  'prev_hash',
  'hash',
])
function buildJsonMember(name: ExportColumn, index: number): string {
  const key = `${index === 0 ? '{' : ','}"${name}":`
  if (unquotedColumns.has(name)) return `'${key}', ${name}`
  if (plainTextColumns.has(name)) return `'${key}"', ${getTextExpression(name)}, '"'`
  return `'${key}', coalesce(to_json(${name})::text, 'null')`
}
// This expression costs half as much as row_to_json, which looks up the type of every value in every row.
const jsonExpression = `concat(${exportColumns.map(buildJsonMember).join(', ')}, '}') as line`
const textColumns = exportColumns.map((name) => `(${getTextExpression(name)})::text as ${name}`).join(', ')

// An export keeps one batch in memory. The text of a batch stays below 128 KiB, because V8 allocates larger strings as
// large objects.
const rowsPerBatch = 100

/**
 * By default, PostgreSQL plans a cursor for its first rows, which the chain index returns immediately. With a time
 * window, that plan would also read all rows outside the window. Such an export is planned for its total cost.
 */
export async function planForTimeWindow(snapshot: Snapshot, { filters }: ExportRequest): Promise<void> {
  if (filters.from !== null || filters.to !== null)
    await snapshot.query('set local cursor_tuple_fraction = 1')
}

/** Streams the matching rows as text values, in column order. */
export async function* streamRecords(
  snapshot: Snapshot,
  request: ExportRequest,
): AsyncGenerator<(string | null)[][], void, void> {
  const { text, values } = buildStatement(request, textColumns)
  for await (const rows of snapshot.stream<Record<ExportColumn, string | null>>(text, values, rowsPerBatch))
    yield rows.map((row) => exportColumns.map((name) => row[name]))
}

/** Streams the matching rows as JSON lines that the database generates. */
export async function* streamEntries(
  snapshot: Snapshot,
  request: ExportRequest,
): AsyncGenerator<string[], void, void> {
  const { text, values } = buildStatement(request, jsonExpression)
  for await (const rows of snapshot.stream<{ line: string }>(text, values, rowsPerBatch))
    yield rows.map(({ line }) => line)
}

/**
 * Returns the position at which the next export continues, or null if the export is complete. Reads at most as many
 * index rows as the limit allows.
 */
export async function findNextPosition(snapshot: Snapshot, request: ExportRequest): Promise<Position | null> {
  if (request.limit === null) return null
  const { text, values } = buildStatement({ ...request, limit: null }, 'chain_id, seq')
  const [lastRow, nextRow] = await snapshot.query<{ chain_id: string; seq: string }>(
    `${text} offset ${request.limit - 1} limit 2`,
    values,
  )
  if (lastRow === undefined || nextRow === undefined) return null
  const systemSeq = request.after?.systemSeq ?? (await readSystemHead(snapshot))
  return { chainId: lastRow.chain_id, seq: Number(lastRow.seq), systemSeq }
}

async function readSystemHead(snapshot: Snapshot): Promise<number> {
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

/** Builds the statement and its values. Input from callers is always a bound value, never part of the SQL text. */
function buildStatement({ filters, limit, after }: ExportRequest, columns: string) {
  const values: (string | number)[] = []
  const bind = (value: string | number): string => `$${values.push(value)}`
  const conditionTexts = Object.entries(conditions).flatMap(([name, condition]) => {
    const value = filters[name as keyof ExportFilters]
    return value === null ? [] : [`${condition} ${bind(value)}`]
  })
  if (after !== null) {
    conditionTexts.push(`(chain_id, seq) > (${bind(after.chainId)}, ${bind(after.seq)})`)
    // Each export appends a row to the system chain. Without this condition, paging with a small limit would never end.
    conditionTexts.push(`(chain_id <> '${systemChain}' or seq <= ${bind(after.systemSeq)})`)
  }
  const filter = conditionTexts.length === 0 ? '' : `where ${conditionTexts.join(' and ')}`
  const limitClause = limit === null ? '' : `limit ${limit}`
  return {
    text: `select ${columns} from audit_logs ${filter} order by audit_logs.chain_id, audit_logs.seq ${limitClause}`,
    values,
  }
}
