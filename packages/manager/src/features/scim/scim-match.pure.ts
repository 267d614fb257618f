// Decides which e-mail addresses of a user the filter in the path of a patch operation selects.
import type { ScimValue } from './scim-attributes.pure.ts'
import type { Comparison, Filter } from './scim-filter.pure.ts'

/** The sub-attributes of one value, by their names in lower case. Texts are in lower case too. */
export type Element = Readonly<Record<string, ScimValue>>

/** Whether the filter selects the element. Texts ignore case, and an unknown sub-attribute has no value. */
export function matchesElement(filter: Filter, element: Element): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.filters.every((one) => matchesElement(one, element))
    case 'or':
      return filter.filters.some((one) => matchesElement(one, element))
    case 'not':
      return !matchesElement(filter.filter, element)
    case 'compare':
      return compare(filter, element)
    case 'element':
      return false
  }
}

function compare({ path, operator, value }: Comparison, element: Element): boolean {
  const { name, sub } = path
  const found = sub === null && Object.hasOwn(element, name) ? (element[name] ?? null) : null
  const text = typeof value === 'string' ? value.toLowerCase() : value
  // Entra ID sends the booleans "True" and "False".
  const wanted = typeof found === 'boolean' && typeof text === 'string' ? text === 'true' : text
  if (operator === 'pr') return found !== null
  if (operator === 'eq') return found === wanted
  if (operator === 'ne') return found !== wanted
  return typeof found === 'string' && typeof wanted === 'string' && compareTexts[operator](found, wanted)
}

const compareTexts: Record<
  Exclude<Comparison['operator'], 'pr' | 'eq' | 'ne'>,
  (found: string, wanted: string) => boolean
> = {
  co: (found, wanted) => found.includes(wanted),
  sw: (found, wanted) => found.startsWith(wanted),
  ew: (found, wanted) => found.endsWith(wanted),
  gt: (found, wanted) => found > wanted,
  ge: (found, wanted) => found >= wanted,
  lt: (found, wanted) => found < wanted,
  le: (found, wanted) => found <= wanted,
}

/**
 * Returns the sub-attributes that an element needs in order to match a filter of equalities, such as `type eq "work"`;
 * null for any other filter.
 */
export function deriveElement(filter: Filter): ReadonlyMap<string, ScimValue> | null {
  const comparisons = filter.kind === 'and' ? filter.filters : [filter]
  const values = new Map<string, ScimValue>()
  for (const one of comparisons) {
    if (one.kind !== 'compare' || one.operator !== 'eq' || one.path.sub !== null) return null
    values.set(one.path.name, one.value)
  }
  return values
}
