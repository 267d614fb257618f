// Checks the variables of an operation before it runs. graphql-js would print the whole value in each error. For one
// large value with many wrong keys, these errors exceed the memory of a process.
import {
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type ValueNode,
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
          reportError(
            badRequest(
              `Variable "$${name}" of required type "${String(type)}" was not provided.`,
              findArgumentPath(operation, name),
            ),
          )
      } else if (value === null && isNonNullType(type))
        reportError(
          badRequest(
            `Variable "$${name}" of non-null type "${String(type)}" must not be null.`,
            findArgumentPath(operation, name),
          ),
        )
      else {
        const onError: OnError = (path, _value, error) => {
          const names = { variable: name, argument: findArgumentPath(operation, name) }
          reportError(createVariableError(names, path, error))
        }
        coerceInputValue(value, type, onError, hideSuggestions)
      }
    }
  } catch (error) {
    if (error !== errorLimitReached) throw error
  }
  return errors
}

/**
 * Returns the path of the first argument of a root field that uses the variable. If only nested fields use the
 * variable, returns the name of the variable.
 */
function findArgumentPath({ selectionSet }: OperationDefinitionNode, variable: string): string {
  for (const field of selectionSet.selections)
    for (const { name, value } of field.kind === Kind.FIELD ? (field.arguments ?? []) : []) {
      const path = findVariable(value, variable)
      if (path !== null) return [name.value, ...path].join('.')
    }
  return variable
}

/** Returns the path to a variable within a literal, or null if the literal does not contain the variable. */
function findVariable(value: ValueNode, variable: string): (string | number)[] | null {
  if (value.kind === Kind.VARIABLE) return value.name.value === variable ? [] : null
  const parts =
    value.kind === Kind.OBJECT
      ? value.fields.map((field) => [field.name.value, field.value] as const)
      : value.kind === Kind.LIST
        ? value.values.map((item, index) => [index, item] as const)
        : []
  for (const [name, part] of parts) {
    const path = findVariable(part, variable)
    if (path !== null) return [name, ...path]
  }
  return null
}
