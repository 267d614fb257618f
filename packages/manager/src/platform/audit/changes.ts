// Computes the changes of an audit row from the entity's rows. An unclassified column counts as secret.

/**
 * `public` values are shown, `sensitive` values shortened, `secret` values masked, and `ignored` columns left
 * out.
 */
export type FieldClass = 'public' | 'sensitive' | 'secret' | 'ignored'
/** The class of each column; a column without a class counts as secret. */
export type FieldClasses = Record<string, FieldClass>
type Row = Record<string, unknown>

/** The values of a field before and after a change, as the audit row shows them. */
export type Change = { before: unknown; after: unknown }

/** Returns the fields that differ between two states of a row; null stands for a row that does not exist. */
export function diffRows(
  classes: FieldClasses,
  before: Row | null,
  after: Row | null,
): Record<string, Change> {
  const changes: Record<string, Change> = {}
  for (const field of new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])) {
    const fieldClass = classes[field] ?? 'secret'
    const [from, to] = [before?.[field] ?? null, after?.[field] ?? null]
    if (fieldClass === 'ignored' || isSame(from, to)) continue
    changes[field] = { before: formatValue(fieldClass, from), after: formatValue(fieldClass, to) }
  }
  return changes
}

const isSame = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b)

function formatValue(fieldClass: FieldClass, value: unknown): unknown {
  if (value === null || fieldClass === 'public') return value
  if (fieldClass === 'sensitive' && typeof value === 'string')
    return `${Array.from(value).slice(0, 2).join('')}…`
  return '[secret]'
}
