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

const maxDefinition = 160
const shownBefore = 60

/** Returns the comparison with the schema after each migration, oldest first. */
export function compareWithHistory(found: SchemaDescription, history: SchemaHistory): Comparison[] {
  const known = knownNames(history)
  const expected = new Map<string, string>()
  return Object.entries(history).map(([migration, { set, removed }]) => {
    for (const [name, definition] of Object.entries(set)) expected.set(name, definition)
    for (const name of removed) expected.delete(name)
    const absent = [...expected].flatMap(([name, definition]) =>
      differenceOf(name, definition, found.get(name)),
    )
    const extra = [...found.keys()].filter((name) => !expected.has(name) && !isForeign(name, found, known))
    return {
      migration,
      differences: [...absent, ...extra.map((name) => ({ name, text: `unexpected: ${name}` }))],
    }
  })
}

/** Returns the objects that no migration creates and that do not affect the service. */
export function foreignObjects(found: SchemaDescription, history: SchemaHistory): string[] {
  const known = knownNames(history)
  const names = [...found.keys()].filter((name) => isForeign(name, found, known))
  // Columns of a foreign table are not listed separately.
  return names.filter((name) => !isPartOf(name, (table) => found.has(table) && !known.has(table)))
}

/** Returns one line per difference. Parts of a table are omitted if the table itself is missing or unexpected. */
export function differenceLines(differences: readonly Difference[]): string[] {
  const names = new Set(differences.map(({ name }) => name))
  return differences
    .filter(({ name }) => !isPartOf(name, (table) => names.has(table)))
    .map(({ text }) => text)
}

const knownNames = (history: SchemaHistory): ReadonlySet<string> =>
  new Set(Object.values(history).flatMap(({ set }) => Object.keys(set)))

function differenceOf(name: string, expected: string, found: string | undefined): Difference[] {
  if (found === expected) return []
  if (found === undefined) return [{ name, text: `missing: ${name}` }]
  const [want, have] = abbreviated(expected, found)
  return [{ name, text: `differs: ${name}: expected ${want}, found ${have}` }]
}

/** Shortens both definitions to one line that includes the first difference. */
function abbreviated(...definitions: [string, string]): [string, string] {
  const [a, b] = definitions.map((definition) => definition.replaceAll(/\s+/g, ' ')) as [string, string]
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  const from = Math.max(a.length, b.length) > maxDefinition ? Math.max(0, at - shownBefore) : 0
  const shorten = (line: string): string =>
    `${from > 0 ? '…' : ''}${line.slice(from, from + maxDefinition)}${line.length > from + maxDefinition ? '…' : ''}`
  return [shorten(a), shorten(b)]
}

/**
 * Returns whether the object is unknown to the migrations and cannot affect our tables. A non-unique index, for
 * example, only speeds up reads.
 */
function isForeign(name: string, found: SchemaDescription, known: ReadonlySet<string>): boolean {
  if (known.has(name)) return false
  const kind = name.slice(0, name.indexOf(' '))
  if (kind === 'index' && !(found.get(name) ?? '').includes('CREATE UNIQUE')) return true
  return !isPartOf(name, (table) => known.has(table))
}

const parts = new Set(['column', 'constraint', 'index', 'trigger', 'row'])

/** Whether the object belongs to a table for which `isMatch` returns true. */
function isPartOf(name: string, isMatch: (table: string) => boolean): boolean {
  const [kind = '', ...rest] = name.split(' ')
  if (!parts.has(kind)) return false
  const path = rest.join(' ').split('.')
  return path.some((_, at) => isMatch(`table ${path.slice(0, path.length - at).join('.')}`))
}
