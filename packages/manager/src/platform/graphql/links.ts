// Fields that link a row to a row of another type (`@link`), such as `project: Project! @link` on a row with a
// `projectId`. The feature that owns a type defines once how its rows are loaded; a feature that links to it only
// declares the field in its SDL.
import { type GraphQLSchema, getNamedType, isObjectType } from 'graphql'
import { loadRow } from './loaders.ts'

type Link = {
  /** Noun for a missing row in error messages. */
  noun: string
  findMany: (ids: readonly string[]) => Promise<{ id: string }[]>
}
/** How the rows of each type are loaded, by the name of the type. */
export type Links = Record<string, Link>

/** Sets the resolver of every field with `@link`; throws if no feature contributes a link to its type. */
export function resolveLinks(schema: GraphQLSchema, links: Links): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue
    for (const field of Object.values(type.getFields())) {
      if (field.astNode?.directives?.some(({ name }) => name.value === 'link') !== true) continue
      const target = getNamedType(field.type).name
      const link = links[target]
      if (link === undefined)
        throw new Error(
          `${type.name}.${field.name} has @link, but no feature contributes a link to ${target}`,
        )
      field.resolve = createResolver(`${field.name}Id`, link)
    }
  }
}

function createResolver(property: string, { noun, findMany }: Link) {
  return (row: Record<string, string | null | undefined>, _args: object, context: object) => {
    const id = row[property]
    if (id === undefined) throw new Error(`a row with a link to ${noun} has no ${property}`)
    return id === null ? null : loadRow(context, noun, id, findMany)
  }
}
