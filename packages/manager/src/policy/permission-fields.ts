// Resolves fields with `@permissions` to the caller's permissions on the parent, based on the table that the guard
// enforces.
import { type GraphQLSchema, getDirectiveValues, isObjectType } from 'graphql'
import type { GraphqlContext } from './guard-graphql.ts'
import { listPermissions } from './authorize.ts'

/** Sets the resolver of every field with `@permissions`. */
export function resolvePermissionFields(schema: GraphQLSchema): void {
  const directive = schema.getDirective('permissions')
  if (!directive) throw new Error('the schema does not define @permissions')
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue
    for (const field of Object.values(type.getFields())) {
      const scope = field.astNode && getDirectiveValues(directive, field.astNode)?.['in']
      if (typeof scope !== 'string') continue
      field.resolve = ({ id }: { id: string }, _args: object, { actor }: GraphqlContext) =>
        listPermissions(actor, scope, [id])
    }
  }
}
