// Names are written in camel case here, as in GraphQL; REST bodies have them in snake case.

type Camel<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Name
/** The type with its own names in camel case. */
export type CamelCase<Type> = Type extends unknown
  ? { readonly [Name in keyof Type as Camel<Name>]: Type[Name] }
  : never
/** As the type is shown to those who read it. */
export type Plain<Type> = Type extends unknown ? { [Name in keyof Type]: Type[Name] } : never

/** The object with its own names in camel case; what is below stays as it is. */
export const toCamelCase = <Body extends object>(body: Body): CamelCase<Body> =>
  rename(body, (name) =>
    name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
  ) as CamelCase<Body>

/** The object with its own names in snake case; what is below stays as it is. */
export const toSnakeCase = (body: object): Record<string, unknown> =>
  rename(body, (name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))

const rename = (body: object, change: (name: string) => string): Record<string, unknown> =>
  Object.fromEntries(Object.entries(body).map(([name, value]) => [change(name), value]))

/** A path of which every part is one segment, whatever is in it; throws a TypeError for parts that cannot be one. */
export const pathOf = (parts: readonly string[]): string => parts.map(segmentOf).join('')

function segmentOf(part: string): string {
  if (part === '.' || part === '..') throw new TypeError(`"${part}" is no id, no name and no version`)
  return `/${encodeURIComponent(part)}`
}
