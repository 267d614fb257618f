// Implements eq, ne, lt, le, gt and ge for the values that Go can compare.
import { fail } from './errors.ts'
import { type Run } from './run.ts'
import { compareText } from './utf8.ts'
import { Int, Named, type Value, isList, isMap, getTypeName } from './value.ts'

type Kind = 'none' | 'bool' | 'int' | 'float' | 'string' | 'other'

const kinds: Readonly<Record<string, Kind>> = {
  boolean: 'bool',
  number: 'float',
  bigint: 'int',
  string: 'string',
  undefined: 'none',
}

function getKind(value: Value): Kind {
  if (value === null) return 'none'
  return kinds[typeof value] ?? (value instanceof Int ? 'int' : 'other')
}

const toBigint = (value: Value): bigint => (value instanceof Int ? value.value : (value as bigint))

/** Returns whether the first value equals one of the others. Fails if Go cannot compare them. */
export function equalsAny(first: Value, others: readonly Value[], run: Run): boolean {
  if (others.length === 0) return fail('missing argument for comparison')
  return others.some((other) => isEqual(first, other, run))
}

function isEqual(a: Value, b: Value, run: Run): boolean {
  const [kind, otherKind] = [getKind(a), getKind(b)]
  // nil equals only nil, and it can be compared with any value.
  if (kind === 'none' || otherKind === 'none') return kind === otherKind
  if (kind !== otherKind) return fail('incompatible types for comparison')
  switch (kind) {
    case 'int':
      return toBigint(a) === toBigint(b)
    case 'other':
      return isEqualNamed(a, b)
    case 'string':
      run.chargeScan((a as string).length)
      return a === b
    case 'bool':
    case 'float':
      return a === b
  }
}

/**
 * Returns whether the values have the same type and the same content. Fails for lists and maps, which cannot
 * be compared.
 */
function isEqualNamed(a: Value, b: Value): boolean {
  if (isList(a) !== isList(b) || isMap(a) !== isMap(b))
    return fail(`non-comparable types ${getTypeName(a)}, ${getTypeName(b)}`)
  if (!(b instanceof Named) || !(a instanceof Named)) return fail(`non-comparable type ${getTypeName(b)}`)
  return a.type === b.type && a.text() === b.text()
}

/**
 * Returns a negative number, zero or a positive number, or NaN if a value is NaN. Fails if Go cannot order
 * the values.
 */
export function compareValues(a: Value, b: Value, run: Run): number {
  const [kind, otherKind] = [getKind(a), getKind(b)]
  if (kind === 'none' || kind === 'other' || otherKind === 'none' || otherKind === 'other')
    return fail('invalid type for comparison')
  if (kind !== otherKind) return fail('incompatible types for comparison')
  switch (kind) {
    case 'int': {
      const [x, y] = [toBigint(a), toBigint(b)]
      return x < y ? -1 : x > y ? 1 : 0
    }
    case 'float': {
      const [x, y] = [a as number, b as number]
      return x < y ? -1 : x > y ? 1 : x === y ? 0 : Number.NaN
    }
    case 'string':
      run.chargeScan((a as string).length)
      return compareText(a as string, b as string)
    case 'bool':
      return fail('invalid type for comparison')
  }
}
