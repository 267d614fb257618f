// Converts names. Names in this package are camel case, as in GraphQL. REST bodies use snake case.

type CamelCaseName<Name> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCaseName<Tail>>}`
  : Name
/** The type with its top-level names in camel case. */
export type CamelCase<Type> = Type extends unknown
  ? { readonly [Name in keyof Type as CamelCaseName<Name>]: Type[Name] }
  : never
/** Expands a mapped type, so that editors show its fields. */
export type Simplify<Type> = Type extends unknown ? { [Name in keyof Type]: Type[Name] } : never

/** Converts the top-level names of an object to camel case. */
export const toCamelCase = <Body extends object>(body: Body): CamelCase<Body> =>
  renameKeys(body, (name) =>
    name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
  ) as CamelCase<Body>

/** Converts the top-level names of an object to snake case. */
export const toSnakeCase = (body: object): Record<string, unknown> =>
  renameKeys(body, (name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))

const renameKeys = (body: object, change: (name: string) => string): Record<string, unknown> =>
  Object.fromEntries(Object.entries(body).map(([name, value]) => [change(name), value]))

/** Encodes each part as one path segment. Throws a TypeError for `.` and `..`. */
export const encodePath = (parts: readonly string[]): string => parts.map(encodeSegment).join('')

function encodeSegment(part: string): string {
  if (part === '.' || part === '..') throw new TypeError(`"${part}" is not a valid id, name or version`)
  return `/${encodeURIComponent(part)}`
}
