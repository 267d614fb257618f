// The functions that a template can call: the Go builtins that the host enables, and the host's own
// functions.
import { compareValues, equalsAny } from './compare.ts'
import { fail } from './errors.ts'
import { escapeHtml, escapeJs, escapeQuery } from './escape.ts'
import { sprint, sprintln } from './print.ts'
import { sprintf } from './printf.ts'
import { type Run } from './run.ts'
import { countBytes, decodeBytes, toBytes } from './utf8.ts'
import {
  Int,
  type ParameterType,
  type Value,
  getElement,
  getEntry,
  isList,
  isMap,
  getTypeName,
} from './value.ts'

/** A function as the engine calls it. */
export interface FunctionEntry {
  readonly name: string
  readonly parameters: readonly ParameterType[]
  /** Whether the last parameter accepts any number of arguments. */
  readonly variadic: boolean
  readonly call: (args: readonly Value[], run: Run) => Value
  /** Only for `and` and `or`, which may skip arguments: the truth value that stops the evaluation. */
  readonly shortCircuit?: boolean
}

export type FunctionTable = ReadonlyMap<string, FunctionEntry>

/** Returns why this number of arguments is wrong, or null if it is correct. */
export function findArgumentCountProblem(
  { parameters, variadic }: FunctionEntry,
  count: number,
): string | null {
  if (!variadic) return count === parameters.length ? null : `want ${parameters.length} got ${count}`
  return count >= parameters.length - 1 ? null : `want at least ${parameters.length - 1} got ${count}`
}

/** Returns the type of the argument at this index. */
export const getParameterType = ({ parameters }: FunctionEntry, index: number): ParameterType =>
  parameters[Math.min(index, parameters.length - 1)] ?? 'any'

type Call = FunctionEntry['call']

const define = (name: string, parameters: readonly ParameterType[], call: Call): FunctionEntry => ({
  name,
  parameters,
  variadic: false,
  call,
})
const defineVariadic = (name: string, parameters: readonly ParameterType[], call: Call): FunctionEntry => ({
  name,
  parameters,
  variadic: true,
  call,
})
const failIfCalled: Call = () => fail('and and or are evaluated where they are called')
const defineComparison = (name: string, holds: (order: number) => boolean): FunctionEntry =>
  define(name, ['value', 'value'], ([a, b], run) => holds(compareValues(a, b, run)))

const entries: readonly FunctionEntry[] = [
  { ...defineVariadic('and', ['value', 'value'], failIfCalled), shortCircuit: false },
  { ...defineVariadic('or', ['value', 'value'], failIfCalled), shortCircuit: true },
  define('not', ['value'], ([value], run) => !run.isTruthy(value)),
  defineVariadic('eq', ['value', 'value'], ([first, ...others], run) => equalsAny(first, others, run)),
  define('ne', ['value', 'value'], ([a, b], run) => !equalsAny(a, [b], run)),
  defineComparison('lt', (order) => order < 0),
  defineComparison('le', (order) => order <= 0),
  // Go derives gt and ge by negation, so their results differ from a direct comparison if one side is NaN.
  defineComparison('gt', (order) => !(order <= 0)),
  defineComparison('ge', (order) => !(order < 0)),
  define('len', ['value'], ([value], run) => BigInt(getLength(value, run))),
  defineVariadic('index', ['value', 'value'], ([value, ...indexes], run) => getAtIndex(value, indexes, run)),
  defineVariadic('slice', ['value', 'value'], ([value, ...indexes], run) => sliceValue(value, indexes, run)),
  defineVariadic('call', ['value', 'value'], ([value]) =>
    fail(
      value === undefined || value === null ? 'call of nil' : `non-function of type ${getTypeName(value)}`,
    ),
  ),
  defineVariadic('print', ['any'], (args, run) => sprint(args, run)),
  defineVariadic('println', ['any'], (args, run) => sprintln(args, run)),
  defineVariadic('printf', ['string', 'any'], ([format, ...args], run) =>
    sprintf(format as string, args, run),
  ),
  defineVariadic('html', ['any'], (args, run) => escapeHtml(args, run)),
  defineVariadic('js', ['any'], (args, run) => escapeJs(args, run)),
  defineVariadic('urlquery', ['any'], (args, run) => escapeQuery(args, run)),
]

/** The Go builtins by name. */
export const builtins: FunctionTable = new Map(entries.map((entry) => [entry.name, entry]))

function getLength(value: Value, run: Run): number {
  if (typeof value === 'string') {
    run.chargeScan(value.length)
    return countBytes(value)
  }
  if (isList(value)) return value.length
  if (isMap(value)) return value instanceof Map ? value.size : run.listKeys(value).length
  if (value === null) return fail('len of nil pointer')
  return fail(`len of type ${getTypeName(value)}`)
}

function getAtIndex(start: Value, indexes: readonly Value[], run: Run): Value {
  let value = start
  if (value === undefined || value === null) return fail('index of untyped nil')
  for (const index of indexes) {
    if (value === null) return fail('index of nil pointer')
    if (isMap(value)) {
      if (typeof index !== 'string') return fail(`value has type ${getTypeName(index)}; should be string`)
      value = getEntry(value, index) ?? null
    } else if (isList(value)) {
      value = getElement(value, checkIndexBelow(index, value.length))
    } else if (typeof value === 'string') {
      value = new Int('uint8', BigInt(getByte(value, index, run)))
    } else return fail(`can't index item of type ${getTypeName(value)}`)
  }
  return value
}

function getByte(text: string, index: Value, run: Run): number {
  run.chargeScan(text.length)
  const length = countBytes(text)
  const offset = checkIndexBelow(index, length)
  // If every UTF-16 unit represents one byte, the byte is the low byte of the unit at this index.
  return length === text.length ? text.charCodeAt(offset) & 0xff : (getBytes(text, run)[offset] ?? 0)
}

/** Returns the bytes of a string. Encoding is charged separately, because it takes longer than counting the bytes. */
function getBytes(text: string, run: Run): Uint8Array {
  run.chargeScan(text.length * 8)
  return toBytes(text)
}

function checkIndexBelow(index: Value, size: number): number {
  const offset = checkIndexWithin(index, size)
  return offset < size ? offset : fail(`index out of range: ${offset}`)
}

/** Returns the index as a number if it is between 0 and the size, inclusive. Fails otherwise. */
function checkIndexWithin(index: Value, size: number): number {
  const offset = index instanceof Int ? index.value : index
  if (offset === undefined) return fail('cannot index slice/array with nil')
  if (typeof offset !== 'bigint') return fail(`cannot index slice/array with type ${getTypeName(offset)}`)
  return offset >= 0n && offset <= BigInt(size) ? Number(offset) : fail(`index out of range: ${offset}`)
}

function sliceValue(value: Value, indexes: readonly Value[], run: Run): Value {
  if (value === undefined || value === null) return fail('slice of untyped nil')
  if (indexes.length > 3) return fail(`too many slice indexes: ${indexes.length}`)
  if (typeof value === 'string') {
    if (indexes.length === 3) return fail('cannot 3-index slice a string')
    run.chargeScan(value.length)
    const size = countBytes(value)
    const [from, to] = getSliceBounds(indexes, size, size)
    run.chargeBuild(to - from)
    return size === value.length
      ? value.slice(from, to)
      : decodeBytes(getBytes(value, run).subarray(from, to))
  }
  if (!isList(value)) return fail(`can't slice item of type ${getTypeName(value)}`)
  return sliceList(value, indexes, run)
}

/**
 * The original of a list that `slice` returned. As in Go, a slice can be extended beyond its end, up to its capacity.
 */
interface Origin {
  readonly list: readonly unknown[]
  readonly start: number
  readonly capacity: number
}
const origins = new WeakMap<readonly unknown[], Origin>()

function sliceList(value: readonly unknown[], indexes: readonly Value[], run: Run): Value {
  const { list, start, capacity } = origins.get(value) ?? { list: value, start: 0, capacity: value.length }
  const [from, to, end] = getSliceBounds(indexes, value.length, capacity)
  run.chargeSteps(to - from)
  const slice = list.slice(start + from, start + to)
  origins.set(slice, { list, start: start + from, capacity: end - from })
  return slice
}

/** Returns the slice bounds for up to three indexes. The defaults are 0, the length and the capacity. */
function getSliceBounds(
  indexes: readonly Value[],
  length: number,
  capacity: number,
): [from: number, to: number, end: number] {
  const [from = 0, to = length, end = capacity] = indexes.map((index) => checkIndexWithin(index, capacity))
  if (from > to) return fail(`invalid slice index: ${from} > ${to}`)
  if (to > end) return fail(`invalid slice index: ${to} > ${end}`)
  return [from, to, end]
}
