// The variables of an operation, checked before it runs. graphql's own check prints the whole value once for each thing
// that is wrong in it, which for one large value and many wrong keys is more than a process can hold.
import {
  type GraphQLSchema,
  type OperationDefinitionNode,
  coerceInputValue,
  isInputType,
  isNonNullType,
  typeFromAST,
} from 'graphql'
import { type AppError, badRequest } from '../errors.ts'
import { maxErrors, variableError } from './error-messages.ts'

const enough = Symbol('enough errors')
// A key may have megabytes, and graphql would compare all of it with the names it knows.
const hideSuggestions = true
type OnError = Parameters<typeof coerceInputValue>[2]

/** The first things that are wrong with the variables; none when the operation may run with them. */
export function findVariableErrors(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  given: Record<string, unknown>,
): AppError[] {
  const errors: AppError[] = []
  const report = (error: AppError): void => {
    errors.push(error)
    if (errors.length >= maxErrors) throw enough
  }
  try {
    for (const { variable, type: node, defaultValue } of operation.variableDefinitions ?? []) {
      const type = typeFromAST(schema, node)
      const name = variable.name.value
      if (!isInputType(type)) continue
      const value = Object.hasOwn(given, name) ? given[name] : undefined
      if (value === undefined) {
        if (isNonNullType(type) && defaultValue === undefined)
          report(badRequest(`Variable "$${name}" of required type "${String(type)}" was not provided.`))
      } else if (value === null && isNonNullType(type))
        report(badRequest(`Variable "$${name}" of non-null type "${String(type)}" must not be null.`))
      else {
        const onError: OnError = (path, _value, error) => report(variableError(name, path, error))
        coerceInputValue(value, type, onError, hideSuggestions)
      }
    }
  } catch (error) {
    if (error !== enough) throw error
  }
  return errors
}
