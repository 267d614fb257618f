// The functions that a template can call: the builtins of Go that the host enables, and the functions of the host.
import { compareValues, equalValues } from './compare.ts'
import { fail } from './errors.ts'
import { escapeHtml, escapeJs, escapeQuery } from './escape.ts'
import { sprint, sprintln } from './print.ts'
import { sprintf } from './printf.ts'
import { type Run } from './run.ts'
import { byteLength, fromBytes, toBytes } from './utf8.ts'
import { Int, type ParameterType, type Value, element, entry, isList, isMap, typeName } from './value.ts'

/** A function as the engine calls it. */
export interface FunctionEntry {
  readonly name: string
  readonly parameters: readonly ParameterType[]
  /** Whether the last parameter accepts any number of arguments. */
  readonly variadic: boolean
  readonly call: (args: readonly Value[], run: Run) => Value
  /** For `and` and `or`, which do not evaluate all arguments: the truth value that stops the evaluation. */
  readonly shortCircuit?: boolean
}

export type FunctionTable = ReadonlyMap<string, FunctionEntry>

/** Returns the problem with this number of arguments, or null if there is none. */
export function countProblem({ parameters, variadic }: FunctionEntry, count: number): string | null {
  if (!variadic) return count === parameters.length ? null : `want ${parameters.length} got ${count}`
  return count >= parameters.length - 1 ? null : `want at least ${parameters.length - 1} got ${count}`
}

/** Returns the type of the argument at this index. */
export const parameterType = ({ parameters }: FunctionEntry, index: number): ParameterType =>
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
const neverCalled: Call = () => fail('and and or are evaluated where they are called')
const comparison = (name: string, holds: (order: number) => boolean): FunctionEntry =>
  define(name, ['value', 'value'], ([a, b], run) => holds(compareValues(a, b, run)))

const entries: readonly FunctionEntry[] = [
  { ...defineVariadic('and', ['value', 'value'], neverCalled), shortCircuit: false },
  { ...defineVariadic('or', ['value', 'value'], neverCalled), shortCircuit: true },
  define('not', ['value'], ([value], run) => !run.truth(value)),
  defineVariadic('eq', ['value', 'value'], ([first, ...others], run) => equalValues(first, others, run)),
  define('ne', ['value', 'value'], ([a, b], run) => !equalValues(a, [b], run)),
  comparison('lt', (order) => order < 0),
  comparison('le', (order) => order <= 0),
  // Go derives these by negation, which gives another result if one side is NaN.
  comparison('gt', (order) => !(order <= 0)),
  comparison('ge', (order) => !(order < 0)),
  define('len', ['value'], ([value], run) => BigInt(length(value, run))),
  defineVariadic('index', ['value', 'value'], ([value, ...indexes], run) => indexed(value, indexes, run)),
  defineVariadic('slice', ['value', 'value'], ([value, ...indexes], run) => sliced(value, indexes, run)),
  defineVariadic('call', ['value', 'value'], ([value]) =>
    fail(value === undefined || value === null ? 'call of nil' : `non-function of type ${typeName(value)}`),
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

/** The builtins of Go by name. */
export const builtins: FunctionTable = new Map(entries.map((entry) => [entry.name, entry]))

function length(value: Value, run: Run): number {
  if (typeof value === 'string') {
    run.scan(value.length)
    return byteLength(value)
  }
  if (isList(value)) return value.length
  if (isMap(value)) return value instanceof Map ? value.size : run.keys(value).length
  if (value === null) return fail('len of nil pointer')
  return fail(`len of type ${typeName(value)}`)
}

function indexed(start: Value, indexes: readonly Value[], run: Run): Value {
  let value = start
  if (value === undefined || value === null) return fail('index of untyped nil')
  for (const index of indexes) {
    if (value === null) return fail('index of nil pointer')
    if (isMap(value)) {
      if (typeof index !== 'string') return fail(`value has type ${typeName(index)}; should be string`)
      value = entry(value, index) ?? null
    } else if (isList(value)) {
      value = element(value, indexBelow(index, value.length))
    } else if (typeof value === 'string') {
      value = new Int('uint8', BigInt(byteOf(value, index, run)))
    } else return fail(`can't index item of type ${typeName(value)}`)
  }
  return value
}

function byteOf(text: string, index: Value, run: Run): number {
  run.scan(text.length)
  const length = byteLength(text)
  const offset = indexBelow(index, length)
  // If every UTF-16 unit is one byte, the low byte of the unit at this index is the byte.
  return length === text.length ? text.charCodeAt(offset) & 0xff : (bytesOf(text, run)[offset] ?? 0)
}

/** Returns the bytes of a text. Finding them takes longer than counting them. */
function bytesOf(text: string, run: Run): Uint8Array {
  run.scan(text.length * 8)
  return toBytes(text)
}

function indexBelow(index: Value, size: number): number {
  const offset = indexWithin(index, size)
  return offset < size ? offset : fail(`index out of range: ${offset}`)
}

/** Accepts an index from 0 to the size, inclusive. */
function indexWithin(index: Value, size: number): number {
  const offset = index instanceof Int ? index.value : index
  if (offset === undefined) return fail('cannot index slice/array with nil')
  if (typeof offset !== 'bigint') return fail(`cannot index slice/array with type ${typeName(offset)}`)
  return offset >= 0n && offset <= BigInt(size) ? Number(offset) : fail(`index out of range: ${offset}`)
}

function sliced(value: Value, indexes: readonly Value[], run: Run): Value {
  if (value === undefined || value === null) return fail('slice of untyped nil')
  if (indexes.length > 3) return fail(`too many slice indexes: ${indexes.length}`)
  if (typeof value === 'string') {
    if (indexes.length === 3) return fail('cannot 3-index slice a string')
    run.scan(value.length)
    const size = byteLength(value)
    const [from, to] = sliceBounds(indexes, size, size)
    run.build(to - from)
    return size === value.length ? value.slice(from, to) : fromBytes(bytesOf(value, run).subarray(from, to))
  }
  if (!isList(value)) return fail(`can't slice item of type ${typeName(value)}`)
  return slicedList(value, indexes, run)
}

/** The origin of a list that slice created. In Go, a slice can be extended beyond its end, up to its capacity. */
interface Origin {
  readonly list: readonly unknown[]
  readonly start: number
  readonly capacity: number
}
const origins = new WeakMap<readonly unknown[], Origin>()

function slicedList(value: readonly unknown[], indexes: readonly Value[], run: Run): Value {
  const { list, start, capacity } = origins.get(value) ?? { list: value, start: 0, capacity: value.length }
  const [from, to, end] = sliceBounds(indexes, value.length, capacity)
  run.step(to - from)
  const slice = list.slice(start + from, start + to)
  origins.set(slice, { list, start: start + from, capacity: end - from })
  return slice
}

/** Returns the bounds for up to three indexes. The defaults are 0, the length and the capacity. */
function sliceBounds(
  indexes: readonly Value[],
  length: number,
  capacity: number,
): [from: number, to: number, end: number] {
  const [from = 0, to = length, end = capacity] = indexes.map((index) => indexWithin(index, capacity))
  if (from > to) return fail(`invalid slice index: ${from} > ${to}`)
  if (to > end) return fail(`invalid slice index: ${to} > ${end}`)
  return [from, to, end]
}
