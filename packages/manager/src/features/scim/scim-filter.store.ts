// Turns a parsed filter into a SQL condition on a row of `scim_users` with the alias `s`. Columns and operators come from
// the tables below; the text of the filter contributes only parameters. `eq` on userName, externalId, id and emails.value
// uses an index. A comparison is true, false or null, and null counts as false.
import { type RawBuilder, sql } from 'kysely'
import { parseUuid } from '../../platform/ids.ts'
import { parseTimestamp } from '../../platform/inputs/timestamps.ts'
import { type ScimValue, formatAttributePath } from './scim-attributes.pure.ts'
import { scimBadRequest } from './scim-errors.pure.ts'
import type { Comparison, Filter, Operator } from './scim-filter.pure.ts'

type Condition = RawBuilder<boolean>
type Compile = (comparison: Comparison) => Condition

/** Returns the condition of the whole filter. `baseUrl` is the address of the SCIM routes, which `meta.location` contains. */
export const createFilterSql = (filter: Filter, baseUrl: string): Condition =>
  compile(filter, createUserFields(baseUrl))

function compile(filter: Filter, fields: ReadonlyMap<string, Compile>): Condition {
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const conditions = filter.filters.map((one) => compile(one, fields))
      return sql<boolean>`(${sql.join(conditions, filter.kind === 'and' ? sql` and ` : sql` or `)})`
    }
    case 'not':
      return sql<boolean>`(${compile(filter.filter, fields)} is not true)`
    case 'compare':
      return (fields.get(formatAttributePath(filter.path)) ?? compileAbsent)(filter)
    case 'element':
      return filter.path.name === 'emails' ? compileElement(filter.filter) : sql<boolean>`false`
  }
}

/** An attribute that no user has (RFC 7644, section 3.4.2.1): only `ne` and a comparison with null are true. */
const compileAbsent: Compile = ({ operator, value }) =>
  sql<boolean>`${operator === 'ne' ? value !== null : operator === 'eq' && value === null}::boolean`

const refuse = ({ path, operator }: Comparison, rule: string): Error =>
  scimBadRequest(
    'invalidFilter',
    `the filter compares ${formatAttributePath(path)} with ${operator}, but ${rule}`,
  )

/** The condition for `pr`, and for a comparison with null, which tests whether the attribute has a value. */
function compilePresence(comparison: Comparison, isPresent: Condition): Condition | null {
  const { operator, value } = comparison
  if (operator === 'pr') return isPresent
  if (value !== null) return null
  if (operator === 'ne') return isPresent
  if (operator === 'eq') return sql<boolean>`(${isPresent} is not true)`
  throw refuse(comparison, 'null has no order and no parts')
}

function readText(comparison: Comparison): string {
  const { value } = comparison
  if (typeof value !== 'string') throw refuse(comparison, 'its value is a text in double quotes')
  // PostgreSQL stores neither U+0000 nor malformed Unicode, so no value matches.
  return value.replaceAll('\0', '\ufffd').toWellFormed()
}

type Expression = RawBuilder<string | null>
const identity = (expression: Expression): Expression => expression
const toLowerCase = (expression: Expression): Expression => sql<string | null>`lower(${expression})`

/** Compares a text. `fold` is applied to both sides, so that an expression index can serve the comparison. */
const createTextField =
  (column: Expression, fold: (expression: Expression) => Expression): Compile =>
  (comparison) => {
    const presence = compilePresence(comparison, sql<boolean>`(${column} is not null)`)
    return presence ?? compareText(comparison.operator, fold(column), fold, readText(comparison))
  }

function compareText(
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

const createBooleanField =
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

/** The id is a UUID: equality uses the primary key, and a text that is not a UUID matches no user. */
const compileId: Compile = (comparison) => {
  const { operator, value } = comparison
  const id = parseUuid(value)
  if (operator === 'eq' && id !== null) return sql<boolean>`s.user_id = ${id}::uuid`
  if (operator === 'eq' && typeof value === 'string') return sql<boolean>`false`
  return createTextField(sql<string>`s.user_id::text`, identity)(comparison)
}

const hasEmails = sql<boolean>`(s.email_values <> '{}')`
const elements = sql`jsonb_to_recordset(s.emails) as e (value text, type text, "primary" boolean, display text)`

/** A multi-valued attribute matches if one of its values does; `ne` matches if none of them is equal. */
const compileEmailValue: Compile = (comparison) => {
  const presence = compilePresence(comparison, hasEmails)
  if (presence !== null) return presence
  const { operator } = comparison
  const text = readText(comparison)
  const isEqual = sql<boolean>`s.email_values @> array[lower(${text}::text)]`
  if (operator === 'eq') return isEqual
  if (operator === 'ne') return sql<boolean>`(not ${isEqual})`
  const condition = compareText(operator, sql<string>`one`, toLowerCase, text)
  return sql<boolean>`exists (select from unnest(s.email_values) as one where ${condition})`
}

const elementFields: ReadonlyMap<string, Compile> = new Map<string, Compile>([
  ['value', createTextField(sql<string>`e.value`, toLowerCase)],
  ['type', createTextField(sql<string>`e.type`, toLowerCase)],
  ['display', createTextField(sql<string>`e.display`, toLowerCase)],
  ['primary', createBooleanField(sql<boolean>`e."primary"`)],
])

/** `emails[…]`: one address matches the whole filter. An equality of its value also uses the index. */
function compileElement(filter: Filter): Condition {
  const exists = sql<boolean>`exists (select from ${elements} where ${compile(filter, elementFields)})`
  const values = listRequiredValues(filter)
  if (values.length === 0) return exists
  const lowerCaseValues = sql.join(values.map((value) => sql`lower(${value}::text)`))
  return sql<boolean>`(s.email_values @> array[${lowerCaseValues}] and ${exists})`
}

/** Returns the values that an address must have in order to match, because each of them is part of a conjunction. */
function listRequiredValues(filter: Filter): string[] {
  if (filter.kind === 'and') return filter.filters.flatMap(listRequiredValues)
  if (filter.kind !== 'compare' || filter.operator !== 'eq' || typeof filter.value !== 'string') return []
  return formatAttributePath(filter.path) === 'value' ? [readText(filter)] : []
}

const createElementField =
  (sub: string): Compile =>
  (comparison) =>
    compileElement({ ...comparison, path: { name: sub, sub: null } })

function createUserFields(baseUrl: string): ReadonlyMap<string, Compile> {
  const text = (column: Expression): Compile => createTextField(column, toLowerCase)
  return new Map<string, Compile>([
    ['id', compileId],
    ['username', text(sql<string>`s.user_name`)],
    ['externalid', createTextField(sql<string | null>`s.external_id`, identity)],
    ['displayname', text(sql<string | null>`s.display_name`)],
    ['name.formatted', text(sql<string | null>`s.formatted_name`)],
    ['name.givenname', text(sql<string | null>`s.given_name`)],
    ['name.familyname', text(sql<string | null>`s.family_name`)],
    ['active', createBooleanField(sql<boolean>`s.active`)],
    ['emails', compileEmailValue],
    ['emails.value', compileEmailValue],
    ['emails.type', createElementField('type')],
    ['emails.display', createElementField('display')],
    ['emails.primary', createElementField('primary')],
    ['meta.created', createTimeField(sql<string>`s.created_at`)],
    ['meta.lastmodified', createTimeField(sql<string>`s.updated_at`)],
    ['meta.resourcetype', createTextField(sql<string>`'User'::text`, identity)],
    ['meta.version', createTextField(sql<string>`('W/"' || s.revision || '"')`, identity)],
    ['meta.location', createTextField(sql<string>`(${`${baseUrl}/Users/`}::text || s.user_id)`, identity)],
  ])
}

const indexedNames = new Set(['id', 'username', 'externalid', 'emails', 'emails.value'])

/** Whether an index finds all rows of the filter, so that the search costs the same for any number of users. */
export function isIndexed(filter: Filter): boolean {
  if (filter.kind === 'and') return filter.filters.some(isIndexed)
  if (filter.kind === 'or') return filter.filters.every(isIndexed)
  if (filter.kind === 'element')
    return filter.path.name === 'emails' && listRequiredValues(filter.filter).length > 0
  return (
    filter.kind === 'compare' &&
    filter.operator === 'eq' &&
    typeof filter.value === 'string' &&
    indexedNames.has(formatAttributePath(filter.path))
  )
}
