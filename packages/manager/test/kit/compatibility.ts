// Finds interface changes that break existing callers.
import { buildSchema, findBreakingChanges } from 'graphql'
import type { Json } from '../../tools/openapi-frame.ts'

/** Lists breaking changes between two schemas. Removing a deprecated field does not count. */
export function breakingChanges(before: string, after: string): string[] {
  const [old, now] = [buildSchema(before), buildSchema(after)]
  const deprecated = new Set(
    Object.values(old.getTypeMap()).flatMap((type) =>
      'getFields' in type
        ? Object.values(type.getFields())
            .filter((field) => field.deprecationReason !== undefined && field.deprecationReason !== null)
            .map((field) => `${type.name}.${field.name} was removed.`)
        : [],
    ),
  )
  return findBreakingChanges(old, now)
    .map(({ description }) => description)
    .filter((text) => !deprecated.has(text))
}

/** Returns every response field in the API document with its type, one per line. */
export function responseFields(document: Json): string[] {
  const lines = new Set<string>()
  const resolved = (value: unknown): Json => {
    const found = objectOf(value)
    if (typeof found['$ref'] !== 'string') return found
    const names = found['$ref'].split('/').slice(1)
    return resolved(names.reduce((at, name) => objectOf(at[name]), document))
  }
  const walk = (given: Json, path: string): void => {
    const schema = resolved(given)
    for (const part of [...list(schema['anyOf']), ...list(schema['oneOf']), ...list(schema['allOf'])])
      walk(part, path)
    if (schema['type'] !== undefined) lines.add(`${path} ${JSON.stringify(schema['type'])}`)
    for (const [name, property] of Object.entries(objectOf(schema['properties'])))
      walk(property as Json, `${path}.${name}`)
    if (schema['items'] !== undefined) walk(schema['items'] as Json, `${path}[]`)
  }
  for (const [path, operations] of Object.entries(objectOf(document['paths'])))
    for (const [method, operation] of Object.entries(operations as Json))
      for (const [status, response] of Object.entries(objectOf(objectOf(operation)['responses'])))
        for (const [type, { schema }] of Object.entries(objectOf(resolved(response)['content'])) as [
          string,
          Json,
        ][])
          walk(objectOf(schema), `${method.toUpperCase()} ${path} ${status} ${type} body`)
  return [...lines].toSorted()
}

const list = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : [])
const objectOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null ? (value as Json) : {}
