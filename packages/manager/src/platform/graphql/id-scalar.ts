// The ID scalar of this schema. It normalizes a UUID to the spelling that rows store, so that later code
// never sees two spellings of one id. Other values stay unchanged and match no row.
import {
  GraphQLID,
  GraphQLList,
  GraphQLNonNull,
  GraphQLScalarType,
  type GraphQLSchema,
  type GraphQLType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql'
import { parseUuid } from '../ids.ts'

const normalizeId = (id: string): string => parseUuid(id) ?? id

const idScalar = new GraphQLScalarType<string>({
  ...GraphQLID.toConfig(),
  parseValue: (value) => normalizeId(GraphQLID.parseValue(value)),
  parseLiteral: (node, variables) => normalizeId(GraphQLID.parseLiteral(node, variables)),
})

/** Replaces the ID scalar of graphql-js throughout the schema. Call it before the schema is used. */
export function replaceIdScalar(schema: GraphQLSchema): void {
  const types = schema.getTypeMap()
  for (const type of Object.values(types)) {
    if (type.name.startsWith('__')) continue
    if (isInputObjectType(type))
      for (const field of Object.values(type.getFields())) field.type = replaceIdType(field.type)
    if (isObjectType(type) || isInterfaceType(type))
      for (const field of Object.values(type.getFields())) {
        field.type = replaceIdType(field.type)
        for (const argument of field.args) argument.type = replaceIdType(argument.type)
      }
  }
  types[idScalar.name] = idScalar
}

function replaceIdType<T extends GraphQLType>(type: T): T {
  if (isNonNullType(type)) return new GraphQLNonNull(replaceIdType(type.ofType)) as T
  if (isListType(type)) return new GraphQLList(replaceIdType(type.ofType)) as T
  return (type === (GraphQLID as GraphQLType) ? idScalar : type) as T
}
