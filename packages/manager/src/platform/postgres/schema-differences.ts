// Compares the description of a database with the schema after each migration.
import type { SchemaDescription } from './schema-description.ts'

/** The objects that each migration sets and removes. */
export type SchemaHistory = Readonly<
  Record<string, { set: Readonly<Record<string, string>>; removed: readonly string[] }>
>
/** A differing object and the line that describes the difference. */
export type Difference = { name: string; text: string }
/** The differences from the schema after one migration. */
export type Comparison = { migration: string; differences: readonly Difference[] }

const maxDefinitionLength = 160
const contextLength = 60

/** Returns the comparison with the schema after each migration, oldest first. */
export function compareWithHistory(actualSchema: SchemaDescription, history: SchemaHistory): Comparison[] {
  const knownObjects = listKnownNames(history)
  const expectedSchema = new Map<string, string>()
  return Object.entries(history).map(([migration, { set, removed }]) => {
    for (const [name, definition] of Object.entries(set)) expectedSchema.set(name, definition)
    for (const name of removed) expectedSchema.delete(name)
    const mismatches = [...expectedSchema].flatMap(([name, definition]) =>
      findDifference(name, definition, actualSchema.get(name)),
    )
    const extraNames = [...actualSchema.keys()].filter(
      (name) => !expectedSchema.has(name) && !isForeign(name, actualSchema, knownObjects),
    )
    return {
      migration,
      differences: [...mismatches, ...extraNames.map((name) => ({ name, text: `unexpected: ${name}` }))],
    }
  })
}

/** Returns the objects that no migration creates and that do not affect the service. */
export function listForeignObjects(actual: SchemaDescription, history: SchemaHistory): string[] {
  const knownObjects = listKnownNames(history)
  const names = [...actual.keys()].filter((name) => isForeign(name, actual, knownObjects))
  // Columns of an unknown table are not listed separately.
  return names.filter(
    (name) => !belongsToTable(name, (table) => actual.has(table) && !knownObjects.has(table)),
  )
}

/** Returns one line per difference. Parts of a table are omitted if the table itself is missing or unexpected. */
export function formatDifferences(differences: readonly Difference[]): string[] {
  const names = new Set(differences.map(({ name }) => name))
  return differences
    .filter(({ name }) => !belongsToTable(name, (table) => names.has(table)))
    .map(({ text }) => text)
}

const listKnownNames = (history: SchemaHistory): ReadonlySet<string> =>
  new Set(Object.values(history).flatMap(({ set }) => Object.keys(set)))

function findDifference(
  name: string,
  expectedDefinition: string,
  actualDefinition: string | undefined,
): Difference[] {
  if (actualDefinition === expectedDefinition) return []
  if (actualDefinition === undefined) return [{ name, text: `missing: ${name}` }]
  const [expectedText, actualText] = abbreviate(expectedDefinition, actualDefinition)
  return [{ name, text: `differs: ${name}: expected ${expectedText}, found ${actualText}` }]
}

/** Shortens both definitions to one line that includes the first difference. */
function abbreviate(...definitions: [string, string]): [string, string] {
  const [a, b] = definitions.map((definition) => definition.replaceAll(/\s+/g, ' ')) as [string, string]
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  const start = Math.max(a.length, b.length) > maxDefinitionLength ? Math.max(0, at - contextLength) : 0
  const shorten = (line: string): string =>
    `${start > 0 ? '…' : ''}${line.slice(start, start + maxDefinitionLength)}${line.length > start + maxDefinitionLength ? '…' : ''}`
  return [shorten(a), shorten(b)]
}

/**
 * Returns whether the object is unknown to the migrations and cannot affect our tables. A non-unique index, for
 * example, only speeds up reads.
 */
function isForeign(name: string, actual: SchemaDescription, knownObjects: ReadonlySet<string>): boolean {
  if (knownObjects.has(name)) return false
  const kind = name.slice(0, name.indexOf(' '))
  if (kind === 'index' && !(actual.get(name) ?? '').includes('CREATE UNIQUE')) return true
  return !belongsToTable(name, (table) => knownObjects.has(table))
}

const tablePartKinds = new Set(['column', 'constraint', 'index', 'trigger', 'row'])

/** Whether the object belongs to a table that matches `isMatch`. */
function belongsToTable(name: string, isMatch: (table: string) => boolean): boolean {
  const [kind = '', ...rest] = name.split(' ')
  if (!tablePartKinds.has(kind)) return false
  const path = rest.join(' ').split('.')
  return path.some((_, at) => isMatch(`table ${path.slice(0, path.length - at).join('.')}`))
}
