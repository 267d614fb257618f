// The values that a template works on. Host data is not copied; it is checked when it is read. Each JavaScript type
// represents one Go type:
//
//   undefined  no value at all (Go: the zero reflect.Value; a missing key)     boolean  bool
//   null       a nil interface (a JSON null inside a list or a map)            string   string
//   number     float64, as every JSON number in Go                             bigint   int, 64 bits
//   array      []interface {}          plain object or Map with string keys    map[string]interface {}
//   Named      a value of another Go type, with the methods declared here
import { fail } from './errors.ts'
import { sortText, toWellFormedText } from './utf8.ts'

/** Own properties of a plain object. */
type Fields = Readonly<Record<string, unknown>>
export type Entries = Fields | ReadonlyMap<string, unknown>

export type Value =
  undefined | null | boolean | number | bigint | string | readonly unknown[] | Entries | Named

/** The Go type of a parameter. `value` accepts every value unchanged, including no value. */
export type ParameterType = 'any' | 'string' | 'int' | 'float64' | 'bool' | 'value'

/** A method of a named type. It is called like a function, with its receiver as an extra argument. */
export interface Method {
  readonly parameters: readonly ParameterType[]
  readonly call: (receiver: never, args: readonly Value[]) => Value
}

/** A value of a named Go type or of a Go type with methods. */
export abstract class Named {
  /** The name of the Go type. */
  abstract readonly type: string
  /** The methods that a template may call. */
  abstract readonly methods: ReadonlyMap<string, Method>
  /** Returns the result of the String method, or null if the type has no such method. */
  abstract text(): string | null
  /** Returns the JSON representation of the value, for host functions. */
  abstract toJSON(): string | number

  /** Returns the result of the GoString method, or null if the type has no such method. */
  source(): string | null {
    return null
  }

  /** Returns the fields of a struct, for verbs that print them. A null field is a nil pointer. */
  parts(): readonly (readonly [name: string, value: Int | null])[] {
    return []
  }
}

const noMethods: ReadonlyMap<string, Method> = new Map()
const stringMethod: ReadonlyMap<string, Method> = new Map([
  ['String', { parameters: [], call: (receiver: Int) => receiver.text() }],
])

/** An integer of a type other than int. */
export class Int extends Named {
  readonly type: string
  readonly value: bigint
  readonly methods: ReadonlyMap<string, Method>
  readonly #text: string | null

  constructor(type: string, value: bigint, text: string | null = null) {
    super()
    this.type = type
    this.value = value
    this.methods = text === null ? noMethods : stringMethod
    this.#text = text
  }

  get isSigned(): boolean {
    return !this.type.startsWith('u')
  }

  text(): string | null {
    return this.#text
  }

  toJSON(): number {
    return Number(this.value)
  }
}

const { getOwnPropertyDescriptor, getPrototypeOf, hasOwn, keys: ownKeys } = Object
const { __lookupGetter__: lookupGetter } = Object.prototype as unknown as {
  __lookupGetter__: (this: object, key: PropertyKey) => unknown
}

/**
 * Converts a value from the host. Rejects values that are not data, makes text well-formed and turns
 * undefined into nil.
 */
export function convertHostValue(value: unknown): Value {
  if (typeof value === 'string') return toWellFormedText(value)
  if (typeof value === 'number' || typeof value === 'boolean') return value
  if (value === undefined || value === null) return null
  if (typeof value === 'bigint')
    return BigInt.asIntN(64, value) === value ? value : fail('an integer has more than 64 bits')
  if (typeof value === 'object' && isData(value)) return value
  const valueKind = typeof value === 'object' ? 'a class instance' : `a ${typeof value}`
  return fail(`${valueKind} is not data`)
}

function isData(value: object): value is readonly unknown[] | Entries | Named {
  if (Array.isArray(value)) return true
  const prototype: unknown = getPrototypeOf(value)
  // A prototype that has no prototype itself is the Object.prototype of this or another realm.
  if (prototype === Object.prototype || prototype === null || getPrototypeOf(prototype) === null) return true
  return value instanceof Map || value instanceof Named
}

/** Returns whether the value is a Go slice. */
export const isList = (value: Value): value is readonly unknown[] => Array.isArray(value)

/** Returns whether the value is a Go map. */
export const isMap = (value: Value): value is Entries =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Named)

/** Returns an entry of a map, or undefined. Only own, enumerable data properties are visible. */
export function getEntry(map: Entries, key: string): Value {
  if (map instanceof Map)
    return Map.prototype.has.call(map, key) ? convertHostValue(Map.prototype.get.call(map, key)) : undefined
  const property = getOwnPropertyDescriptor(map, key)
  return property !== undefined && isDataProperty(property) ? convertHostValue(property.value) : undefined
}

/** Returns an element of a list. A hole or an accessor is returned as nil. */
export function getElement(list: readonly unknown[], index: number): Value {
  // Looking up a getter takes a third of the time of reading the property descriptor.
  return hasOwn(list, index) && lookupGetter.call(list, index) === undefined
    ? convertHostValue(list[index])
    : null
}

/** Returns the keys of a map in Go's order. */
export function getSortedKeys(map: Entries): string[] {
  if (!(map instanceof Map)) return sortText(ownKeys(map).filter((key) => isVisible(map, key)))
  const keys: unknown[] = [...Map.prototype.keys.call(map)]
  return sortText(keys.map((key) => (typeof key === 'string' ? key : fail('a key of a Map is not a string'))))
}

export function hasEntries(map: Entries): boolean {
  if (map instanceof Map) return map.size > 0
  for (const key in map) if (isVisible(map, key)) return true
  return false
}

function isVisible(map: Entries, key: string): boolean {
  const property = getOwnPropertyDescriptor(map, key)
  return property !== undefined && isDataProperty(property)
}

/**
 * Returns whether templates may read the property. Accessors would run host code, and hidden properties are
 * not data. Only data properties define `writable`.
 */
const isDataProperty = (property: PropertyDescriptor): boolean =>
  property.writable !== undefined && property.enumerable === true

const typeNames: Readonly<Record<string, string>> = {
  boolean: 'bool',
  number: 'float64',
  bigint: 'int',
  string: 'string',
  undefined: '<nil>',
}

/** Returns the name of the value's Go type. */
export function getTypeName(value: Value): string {
  if (value === null) return '<nil>'
  if (value instanceof Named) return value.type
  return typeNames[typeof value] ?? (isList(value) ? '[]interface {}' : 'map[string]interface {}')
}
