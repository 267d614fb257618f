// Checks the variables of an operation before it runs. The check of graphql-js prints the whole value for each error in
// it. For one large value with many wrong keys, that exceeds the memory of a process.
import {
  type GraphQLSchema,
  type OperationDefinitionNode,
  coerceInputValue,
  isInputType,
  isNonNullType,
  typeFromAST,
} from 'graphql'
import { type AppError, badRequest } from '../errors.ts'
import { maxErrors, createVariableError } from './error-messages.ts'

const errorLimitReached = Symbol('error limit reached')
// A key can be megabytes long, and graphql-js would compare all of it with the names it knows.
const hideSuggestions = true
type OnError = Parameters<typeof coerceInputValue>[2]

/** Returns the first 20 errors in the variables; an empty list if the operation may run with them. */
export function findVariableErrors(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  variables: Record<string, unknown>,
): AppError[] {
  const errors: AppError[] = []
  const reportError = (error: AppError): void => {
    errors.push(error)
    if (errors.length >= maxErrors) throw errorLimitReached
  }
  try {
    for (const { variable, type: node, defaultValue } of operation.variableDefinitions ?? []) {
      const type = typeFromAST(schema, node)
      const name = variable.name.value
      if (!isInputType(type)) continue
      const value = Object.hasOwn(variables, name) ? variables[name] : undefined
      if (value === undefined) {
        if (isNonNullType(type) && defaultValue === undefined)
          reportError(badRequest(`Variable "$${name}" of required type "${String(type)}" was not provided.`))
      } else if (value === null && isNonNullType(type))
        reportError(badRequest(`Variable "$${name}" of non-null type "${String(type)}" must not be null.`))
      else {
        const onError: OnError = (path, _value, error) => reportError(createVariableError(name, path, error))
        coerceInputValue(value, type, onError, hideSuggestions)
      }
    }
  } catch (error) {
    if (error !== errorLimitReached) throw error
  }
  return errors
}
