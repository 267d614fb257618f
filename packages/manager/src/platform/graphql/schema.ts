// Joins the SDL and the resolvers of all features into one schema.
import { readFileSync } from 'node:fs'
import { type GraphQLFieldResolver, type GraphQLSchema, buildASTSchema, isObjectType, parse } from 'graphql'
import { addConnections, resolveConnections } from './connections.ts'
import { replaceIdScalar } from './id-scalar.ts'
import { type Links, resolveLinks } from './links.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- every resolver has its own argument types; codegen checks them
type AnyResolver = GraphQLFieldResolver<any, any, any, any>
/** Resolvers by type name and field name. */
export type ResolverMap = Record<string, Record<string, AnyResolver>>

/** Reads and joins SDL files from the folder of the caller. */
export const readSdl = (importMetaUrl: string, ...files: string[]): string =>
  files.map((file) => readFileSync(new URL(file, importMetaUrl), 'utf8')).join('\n')

const commonSdl = readSdl(import.meta.url, './common.graphql')

/** Builds the schema; a resolver for a field that does not exist is an error, not a silent no-op. */
export function createSchema(
  sdl: readonly string[],
  resolvers: readonly ResolverMap[],
  links: Links,
): GraphQLSchema {
  const schema = buildASTSchema(addConnections(parse([commonSdl, ...sdl].join('\n'))))
  replaceIdScalar(schema)
  resolveLinks(schema, links)
  for (const map of resolvers)
    for (const [typeName, fields] of Object.entries(map)) {
      const type = schema.getType(typeName)
      if (!isObjectType(type))
        throw new Error(`resolvers are defined for the type ${typeName}, which is not in the schema`)
      for (const [fieldName, resolve] of Object.entries(fields)) {
        const field = type.getFields()[fieldName]
        if (field === undefined)
          throw new Error(`a resolver is defined for ${typeName}.${fieldName}, which is not in the schema`)
        field.resolve = resolve
      }
    }
  resolveConnections(schema)
  return schema
}
