// Fields that lead from a row to a row of another type (`@link`): `project: Project! @link` of a row with a
// `projectId`. The feature that owns a type says how its rows are loaded, once; a feature that links to it says so in
// its SDL alone.
import { type GraphQLSchema, getNamedType, isObjectType } from 'graphql'
import { loadRow } from './loaders.ts'

type Link = {
  /** What error texts call a row that is gone. */
  noun: string
  findMany: (ids: readonly string[]) => Promise<{ id: string }[]>
}
/** By the name of the type. */
export type Links = Record<string, Link>

/** Gives every field with `@link` its resolver; throws when no feature contributes a link to its type. */
export function resolveLinks(schema: GraphQLSchema, links: Links): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue
    for (const field of Object.values(type.getFields())) {
      if (field.astNode?.directives?.some(({ name }) => name.value === 'link') !== true) continue
      const target = getNamedType(field.type).name
      const link = links[target]
      if (link === undefined)
        throw new Error(`${type.name}.${field.name} is a link, and no feature contributes one to ${target}`)
      field.resolve = resolverOf(`${field.name}Id`, link)
    }
  }
}

function resolverOf(property: string, { noun, findMany }: Link) {
  return (row: Record<string, string | null | undefined>, _args: object, context: object) => {
    const id = row[property]
    if (id === undefined) throw new Error(`a row without ${property} has a link to ${noun}`)
    return id === null ? null : loadRow(context, noun, id, findMany)
  }
}
