// Turns a parsed filter into a SQL condition on one row. Columns and operators come from tables in the code; the text of the
// filter contributes only parameters. A comparison is true, false or null, and null counts as false.
import { type RawBuilder, sql } from 'kysely'
import { parseUuid } from '../../platform/ids.ts'
import { parseTimestamp } from '../../platform/inputs/timestamps.ts'
import { type ScimValue, formatAttributePath } from './scim-attributes.pure.ts'
import { scimBadRequest } from './scim-errors.pure.ts'
import type { Comparison, Filter, Operator } from './scim-filter.pure.ts'
import type { ResourceType } from './scim-resource.pure.ts'

export type Condition = RawBuilder<boolean>
export type Compile = (comparison: Comparison) => Condition

/** The attributes that a filter can compare, by their paths in lower case. */
export type FilterFields = {
  fields: ReadonlyMap<string, Compile>
  /** The multi-valued attribute, such as `emails`: a filter in brackets selects one of its values. */
  elements?: { name: string; compile: (filter: Filter) => Condition }
}
/** The attributes of a resource, and those whose equality uses an index. */
export type FilterResource = Required<FilterFields> & { indexedNames: ReadonlySet<string> }

/** Returns the condition of the whole filter. */
export function compileFilter(filter: Filter, resource: FilterFields): Condition {
  const { fields, elements } = resource
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const conditions = filter.filters.map((one) => compileFilter(one, resource))
      return sql<boolean>`(${sql.join(conditions, filter.kind === 'and' ? sql` and ` : sql` or `)})`
    }
    case 'not':
      return sql<boolean>`(${compileFilter(filter.filter, resource)} is not true)`
    case 'compare':
      return (fields.get(formatAttributePath(filter.path)) ?? compileAbsent)(filter)
    case 'element':
      return filter.path.name === elements?.name ? elements.compile(filter.filter) : sql<boolean>`false`
  }
}

/** An attribute that no resource has (RFC 7644, section 3.4.2.1): only `ne` and a comparison with null are true. */
const compileAbsent: Compile = ({ operator, value }) =>
  sql<boolean>`${operator === 'ne' ? value !== null : operator === 'eq' && value === null}::boolean`

export const refuse = ({ path, operator }: Comparison, rule: string): Error =>
  scimBadRequest(
    'invalidFilter',
    `the filter compares ${formatAttributePath(path)} with ${operator}, but ${rule}`,
  )

/** The condition for `pr`, and for a comparison with null, which tests whether the attribute has a value. */
export function compilePresence(comparison: Comparison, isPresent: Condition): Condition | null {
  const { operator, value } = comparison
  if (operator === 'pr') return isPresent
  if (value !== null) return null
  if (operator === 'ne') return isPresent
  if (operator === 'eq') return sql<boolean>`(${isPresent} is not true)`
  throw refuse(comparison, 'null has no order and no parts')
}

export function readText(comparison: Comparison): string {
  const { value } = comparison
  if (typeof value !== 'string') throw refuse(comparison, 'its value is a text in double quotes')
  // PostgreSQL stores neither U+0000 nor malformed Unicode, so no value matches.
  return value.replaceAll('\0', '\ufffd').toWellFormed()
}

export type Expression = RawBuilder<string | null>
export const identity = (expression: Expression): Expression => expression
export const toLowerCase = (expression: Expression): Expression => sql<string | null>`lower(${expression})`

/** Compares a text. `fold` is applied to both sides, so that an expression index can serve the comparison. */
export const createTextField =
  (column: Expression, fold: (expression: Expression) => Expression): Compile =>
  (comparison) => {
    const presence = compilePresence(comparison, sql<boolean>`(${column} is not null)`)
    return presence ?? compareText(comparison.operator, fold(column), fold, readText(comparison))
  }

export function compareText(
  operator: Operator,
  folded: Expression,
  fold: (expression: Expression) => Expression,
  text: string,
): Condition {
  const value = fold(sql<string>`${text}::text`)
  // Wildcards in the value match themselves.
  const like = (start: string, end: string): Condition =>
    sql<boolean>`${folded} like ${fold(sql<string>`${start + text.replace(/[\\%_]/g, '\\$&') + end}::text`)}`
  switch (operator) {
    case 'eq':
      return sql<boolean>`${folded} = ${value}`
    case 'ne':
      return sql<boolean>`${folded} is distinct from ${value}`
    case 'co':
      return like('%', '%')
    case 'sw':
      return like('', '%')
    case 'ew':
      return like('%', '')
    case 'gt':
    case 'ge':
    case 'lt':
    case 'le':
      return sql<boolean>`${folded} collate "C" ${orderOperators[operator]} ${value} collate "C"`
    case 'pr':
      return sql<boolean>`${folded} is not null`
  }
}

const orderOperators = { gt: sql`>`, ge: sql`>=`, lt: sql`<`, le: sql`<=` }

export const createBooleanField =
  (column: RawBuilder<boolean>): Compile =>
  (comparison) => {
    const presence = compilePresence(comparison, sql<boolean>`(${column} is not null)`)
    if (presence !== null) return presence
    const value = readBooleanValue(comparison.value)
    if (value === null) throw refuse(comparison, 'its value is true or false')
    if (comparison.operator === 'eq') return sql<boolean>`${column} = ${value}::boolean`
    if (comparison.operator === 'ne') return sql<boolean>`${column} is distinct from ${value}::boolean`
    throw refuse(comparison, 'a boolean has no order and no parts')
  }

/** Entra ID sends booleans as text. */
function readBooleanValue(value: ScimValue): boolean | null {
  if (typeof value === 'boolean') return value
  const word = typeof value === 'string' ? value.toLowerCase() : ''
  return word === 'true' || word === 'false' ? word === 'true' : null
}

const createTimeField =
  (column: RawBuilder<string>): Compile =>
  (comparison) => {
    const presence = compilePresence(comparison, sql<boolean>`true`)
    if (presence !== null) return presence
    const { operator, value } = comparison
    const instant = typeof value === 'string' ? parseTimestamp(value) : null
    if (instant === null) throw refuse(comparison, 'its value is a time such as "2026-01-31T12:00:00Z"')
    const time = sql`${instant.toISOString()}::timestamptz`
    if (operator === 'eq') return sql<boolean>`${column} = ${time}`
    if (operator === 'ne') return sql<boolean>`${column} <> ${time}`
    if (operator in orderOperators)
      return sql<boolean>`${column} ${orderOperators[operator as keyof typeof orderOperators]} ${time}`
    throw refuse(comparison, 'a time has no parts')
  }

/** An id is a UUID: equality uses the primary key, and a text that is not a UUID matches nothing. */
const createIdField =
  (column: RawBuilder<string>): Compile =>
  (comparison) => {
    const { operator, value } = comparison
    const id = parseUuid(value)
    if (operator === 'eq' && id !== null) return sql<boolean>`${column} = ${id}::uuid`
    if (operator === 'eq' && typeof value === 'string') return sql<boolean>`false`
    return createTextField(sql<string>`${column}::text`, identity)(comparison)
  }

/** The attributes that every resource has. The row has the alias `s`; `baseUrl` is the address of the SCIM routes. */
export const createCommonFields = (
  type: ResourceType,
  id: RawBuilder<string>,
  baseUrl: string,
): [string, Compile][] => [
  ['id', createIdField(id)],
  ['meta.created', createTimeField(sql<string>`s.created_at`)],
  ['meta.lastmodified', createTimeField(sql<string>`s.updated_at`)],
  ['meta.resourcetype', createTextField(sql<string>`${type}::text`, identity)],
  ['meta.version', createTextField(sql<string>`('W/"' || s.revision || '"')`, identity)],
  ['meta.location', createTextField(sql<string>`(${`${baseUrl}/${type}s/`}::text || ${id})`, identity)],
]

/** A sub-attribute such as `emails.type`: one value must match. */
export const createElementField =
  (sub: string, compileElement: (filter: Filter) => Condition): Compile =>
  (comparison) =>
    compileElement({ ...comparison, path: { name: sub, sub: null } })

/** Returns the values that an element must have in order to match, because each of them is part of a conjunction. */
export function listRequiredValues(filter: Filter): string[] {
  if (filter.kind === 'and') return filter.filters.flatMap(listRequiredValues)
  if (filter.kind !== 'compare' || filter.operator !== 'eq' || typeof filter.value !== 'string') return []
  return formatAttributePath(filter.path) === 'value' ? [readText(filter)] : []
}

/** Whether an index finds all rows of the filter, so that the search costs the same for any number of rows. */
export function isIndexed(filter: Filter, resource: FilterResource): boolean {
  if (filter.kind === 'and') return filter.filters.some((one) => isIndexed(one, resource))
  if (filter.kind === 'or') return filter.filters.every((one) => isIndexed(one, resource))
  if (filter.kind === 'element')
    return filter.path.name === resource.elements.name && listRequiredValues(filter.filter).length > 0
  return (
    filter.kind === 'compare' &&
    filter.operator === 'eq' &&
    typeof filter.value === 'string' &&
    resource.indexedNames.has(formatAttributePath(filter.path))
  )
}
