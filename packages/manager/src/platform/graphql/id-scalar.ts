// The scalar ID of this schema: a UUID in any spelling is read as the one spelling in which rows hold it, so that
// nothing behind it meets two names of one thing. Other texts pass unchanged, and no row has them.
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

const oneSpelling = (id: string): string => parseUuid(id) ?? id

const idScalar = new GraphQLScalarType<string>({
  ...GraphQLID.toConfig(),
  parseValue: (value) => oneSpelling(GraphQLID.parseValue(value)),
  parseLiteral: (node, variables) => oneSpelling(GraphQLID.parseLiteral(node, variables)),
})

/** Puts the scalar in the place of graphql's own, wherever the schema names ID. Before the schema is used. */
export function useIdScalar(schema: GraphQLSchema): void {
  const types = schema.getTypeMap()
  for (const type of Object.values(types)) {
    if (type.name.startsWith('__')) continue
    if (isInputObjectType(type))
      for (const field of Object.values(type.getFields())) field.type = replaced(field.type)
    if (isObjectType(type) || isInterfaceType(type))
      for (const field of Object.values(type.getFields())) {
        field.type = replaced(field.type)
        for (const argument of field.args) argument.type = replaced(argument.type)
      }
  }
  types[idScalar.name] = idScalar
}

function replaced<T extends GraphQLType>(type: T): T {
  if (isNonNullType(type)) return new GraphQLNonNull(replaced(type.ofType)) as T
  if (isListType(type)) return new GraphQLList(replaced(type.ofType)) as T
  return (type === (GraphQLID as GraphQLType) ? idScalar : type) as T
}
