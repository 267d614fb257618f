// Compares the attributes of a user in a row of `scim_users` with the alias `s`. `eq` on userName, externalId, id and
// emails.value uses an index.
import { sql } from 'kysely'
import type { Filter } from './scim-filter.pure.ts'
import {
  type Compile,
  type Condition,
  type Expression,
  type FilterResource,
  compareText,
  compileFilter,
  compilePresence,
  createBooleanField,
  createCommonFields,
  createElementField,
  createTextField,
  identity,
  listRequiredValues,
  readText,
  toLowerCase,
} from './scim-filter.store.ts'

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
  const exists = sql<boolean>`exists (select from ${elements} where ${compileFilter(filter, { fields: elementFields })})`
  const values = listRequiredValues(filter)
  if (values.length === 0) return exists
  const lowerCaseValues = sql.join(values.map((value) => sql`lower(${value}::text)`))
  return sql<boolean>`(s.email_values @> array[${lowerCaseValues}] and ${exists})`
}

const text = (column: Expression): Compile => createTextField(column, toLowerCase)

/** Returns the attributes of a user. `baseUrl` is the address of the SCIM routes, which `meta.location` contains. */
export function createUserFields(baseUrl: string): FilterResource {
  const fields = new Map<string, Compile>([
    ...createCommonFields('User', sql<string>`s.user_id`, baseUrl),
    ['username', text(sql<string>`s.user_name`)],
    ['externalid', createTextField(sql<string | null>`s.external_id`, identity)],
    ['displayname', text(sql<string | null>`s.display_name`)],
    ['name.formatted', text(sql<string | null>`s.formatted_name`)],
    ['name.givenname', text(sql<string | null>`s.given_name`)],
    ['name.familyname', text(sql<string | null>`s.family_name`)],
    ['active', createBooleanField(sql<boolean>`s.active`)],
    ['emails', compileEmailValue],
    ['emails.value', compileEmailValue],
    ['emails.type', createElementField('type', compileElement)],
    ['emails.display', createElementField('display', compileElement)],
    ['emails.primary', createElementField('primary', compileElement)],
  ])
  return {
    fields,
    elements: { name: 'emails', compile: compileElement },
    indexedNames: new Set(['id', 'username', 'externalid', 'emails', 'emails.value']),
  }
}
