// Joins the SDL and the resolvers of all features into one schema.
import { readFileSync } from 'node:fs'
import { type GraphQLFieldResolver, type GraphQLSchema, buildSchema, isObjectType } from 'graphql'
import { useIdScalar } from './id-scalar.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- every resolver has its own argument types; codegen checks them
type AnyResolver = GraphQLFieldResolver<any, any, any, any>
export type ResolverMap = Record<string, Record<string, AnyResolver>>

/** The SDL in a file beside the caller. */
export const readSdl = (file: string, importMetaUrl: string): string =>
  readFileSync(new URL(file, importMetaUrl), 'utf8')

const commonSdl = readSdl('./common.graphql', import.meta.url)

/** Builds the schema; a resolver for a field that does not exist is an error, not a silent no-op. */
export function createSchema(sdl: readonly string[], resolvers: readonly ResolverMap[]): GraphQLSchema {
  const schema = buildSchema([commonSdl, ...sdl].join('\n'))
  useIdScalar(schema)
  for (const map of resolvers)
    for (const [typeName, fields] of Object.entries(map)) {
      const type = schema.getType(typeName)
      if (!isObjectType(type))
        throw new Error(`resolvers name the type ${typeName}, which the schema does not have`)
      for (const [fieldName, resolve] of Object.entries(fields)) {
        const field = type.getFields()[fieldName]
        if (field === undefined)
          throw new Error(`resolvers name ${typeName}.${fieldName}, which the schema does not have`)
        field.resolve = resolve
      }
    }
  return schema
}
