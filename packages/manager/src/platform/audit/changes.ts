// What changed, read from the rows themselves. Every column is public, sensitive or secret; one that is not
// classified counts as secret.

/** public is shown; sensitive is shortened; secret shows only that it changed; ignored is bookkeeping. */
export type FieldClass = 'public' | 'sensitive' | 'secret' | 'ignored'
export type FieldClasses = Record<string, FieldClass>
type Row = Record<string, unknown>

export type Change = { before: unknown; after: unknown }

/** The fields that differ between two states of a row; null stands for a row that is not there. */
export function diffRows(
  classes: FieldClasses,
  before: Row | null,
  after: Row | null,
): Record<string, Change> {
  const changes: Record<string, Change> = {}
  for (const field of new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])) {
    const kind = classes[field] ?? 'secret'
    const [from, to] = [before?.[field] ?? null, after?.[field] ?? null]
    if (kind === 'ignored' || isSame(from, to)) continue
    changes[field] = { before: printed(kind, from), after: printed(kind, to) }
  }
  return changes
}

const isSame = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b)

function printed(kind: FieldClass, value: unknown): unknown {
  if (value === null || kind === 'public') return value
  if (kind === 'sensitive' && typeof value === 'string') return `${Array.from(value).slice(0, 2).join('')}…`
  return '[secret]'
}
