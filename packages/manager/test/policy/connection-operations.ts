// Derives the operations on connections from the operations on their lists.
import { Kind, parse } from 'graphql'
import { readAllSdl } from '../../tools/sdl.ts'
import type { Operation } from './operation.ts'

/** The list fields of the schema, as `Type.field`. */
const listNames = new Set(
  parse(readAllSdl()).definitions.flatMap((node) =>
    node.kind === Kind.OBJECT_TYPE_DEFINITION || node.kind === Kind.OBJECT_TYPE_EXTENSION
      ? (node.fields ?? [])
          .filter(({ name }) => name.value.endsWith('Connection'))
          .map(({ name }) => `${node.name.value}.${name.value.slice(0, -'Connection'.length)}`)
      : [],
  ),
)

/**
 * Returns the operation on the connection of a list: callers who may read a list may read its connection. Returns
 * undefined for other fields.
 */
export function createConnectionOperation({ name, text, ...rest }: Operation): Operation[] {
  const field = name.split('.')[1] as string
  if (!listNames.has(name)) return []
  return [
    {
      ...rest,
      name: `${name}Connection`,
      text: (target, id) =>
        text(target, id).replace(
          new RegExp(`\\b${field}(\\([^{]*\\))? \\{ (?:count packages \\{ id \\}|id) \\}`),
          `${field}Connection$1 { nodes { id } }`,
        ),
    },
  ]
}
