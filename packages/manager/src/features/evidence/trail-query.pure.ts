// These queries read evidence from the audit trail: the rows in the window that meet a condition. Each row
// includes the principal and its position in the chain, which identifies the row in an export.
import type { EvidenceQuery } from './evidence-query.pure.ts'

const systemChain = '00000000-0000-0000-0000-000000000000'

/**
 * Returns the SQL expression for a field after the change, or before the change if the entity was deleted.
 */
export const buildFieldSql = (name: string): string =>
  `coalesce(l.changes #>> '{${name},after}', l.changes #>> '{${name},before}')`
export const buildBeforeSql = (name: string): string => `l.changes #>> '{${name},before}'`
export const buildAfterSql = (name: string): string => `l.changes #>> '{${name},after}'`
/**
 * Returns the SQL condition for audit rows with one of these entity types and one of these actions. Without actions,
 * any action matches.
 */
export const buildEntityCondition = (entityTypes: readonly string[], ...actions: string[]): string =>
  `(l.entity_type in (${quoteList(entityTypes)})${actions.length === 0 ? '' : ` and l.action in (${quoteList(actions)})`})`
export const joinWithOr = (...conditions: string[]): string => `(${conditions.join(' or ')})`
const quoteList = (texts: readonly string[]): string => texts.map((text) => `'${text}'`).join(', ')

/**
 * Converts text to a UUID, or to null if it is not a UUID, so that unexpected content in the trail does not make a
 * query fail.
 */
export const castToUuid = (text: string): string =>
  `case when ${text} ~ '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$' then (${text})::uuid end`

const changeColumns = {
  occurred_at: 'l.created_at',
  action: 'l.action',
  entity_type: 'l.entity_type',
  entity_id: 'l.entity_id',
  description: 'l.description',
}
const principalColumns = {
  principal_type: "coalesce(l.principal_type, case when l.user_id is not null then 'user' end)",
  principal_id: 'coalesce(l.principal_id, l.user_id::text)',
  principal_name: "coalesce(nullif(u.external_name, ''), u.external_username, m.name)",
  principal_email: "nullif(u.external_email, '')",
  ip_address: 'l.ip_address',
  user_agent: 'l.user_agent',
}
const projectColumns = {
  project_id: `nullif(l.chain_id, '${systemChain}')`,
  project_name: 'p.name',
}
const chainColumns = {
  changes: 'l.changes',
  chain_id: 'l.chain_id',
  seq: 'l.seq::float8',
  hash: "encode(l.hash, 'hex')",
}

type TrailQuery = Omit<EvidenceQuery, 'columns' | 'source' | 'orderBy'> & {
  /** SQL condition that selects rows of the trail, which has the alias `l`. */
  condition: string
  /** Columns of this query, shown between the change and the principal. */
  columns?: Readonly<Record<string, string>>
  /** Additional joins for these columns. */
  joins?: string
}

/** Creates a query over the audit trail, newest rows first. */
export const createTrailQuery = ({
  condition,
  columns = {},
  joins = '',
  ...rest
}: TrailQuery): EvidenceQuery => ({
  ...rest,
  columns: { ...changeColumns, ...columns, ...projectColumns, ...principalColumns, ...chainColumns },
  source: `from audit_logs l
    left join users u on u.id = l.user_id
    left join machine_users m on l.principal_type = 'machine_user' and m.id = ${castToUuid('l.principal_id')}
    left join projects p on p.id = l.chain_id
    ${joins}
    where l.created_at >= $1 and l.created_at < $2 and ${condition}`,
  orderBy: 'l.created_at desc, l.chain_id, l.seq desc',
})
