// Rejects documents, before they run, that could return far too many objects. Each nested list counts as a full page.
// Ordinary documents stay far below the limit; the objects they produce are counted during execution
// (object-budget.ts).
import {
  type DocumentNode,
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
  getNamedType,
  getNullableType,
  isListType,
  isObjectType,
  valueFromASTUntyped,
} from 'graphql'
import { type AppError, badRequest } from '../errors.ts'
import { fullPage, getPageSize, isConnection, maxObjects } from './object-budget.ts'

/**
 * A query may have four nested lists with default pages and many fields in each, but not five. A mutation must not be
 * rejected for its number of objects after it has run, so its largest possible result must be within the budget.
 */
const computeMaxObjects = (operation: OperationTypeNode): number =>
  operation === OperationTypeNode.MUTATION ? maxObjects : 1_000_000_000

type Variables = Readonly<Record<string, unknown>>
type RequestedOperation = {
  schema: GraphQLSchema
  document: DocumentNode
  operation: OperationDefinitionNode
}

/**
 * Returns an error if the response could contain too many objects, otherwise null. Plain recursion is safe: a validated
 * document has no cycle and a bounded number of selections.
 */
export function findSizeProblem(
  { schema, document, operation }: RequestedOperation,
  providedVariables: Variables,
): AppError | null {
  // Most operations stay below the limit with full pages, regardless of their variables.
  if (smallOperations.has(operation)) return null
  const fragments = new Map<string, SelectionSetNode>()
  for (const node of document.definitions)
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node.selectionSet)
  const count = createCounter(fragments)
  const root = schema.getRootType(operation.operation)
  const max = computeMaxObjects(operation.operation)
  if (!root) return null
  if (count(operation.selectionSet, root, () => ({})) <= max) {
    smallOperations.add(operation)
    return null
  }
  const variables = addDefaults(operation, providedVariables)
  if (count(operation.selectionSet, root, (node) => readPageArguments(node, variables)) <= max) return null
  return badRequest(
    `this document could return more than ${max} objects; request smaller pages or fewer levels`,
  )
}

const smallOperations = new WeakSet<OperationDefinitionNode>()

type ReadPageArguments = (node: FieldNode) => Record<string, unknown>
type Count = (
  set: SelectionSetNode | undefined,
  type: GraphQLObjectType,
  readArguments: ReadPageArguments,
) => number

/** Returns a function that counts the objects of a selection set. */
function createCounter(fragments: ReadonlyMap<string, SelectionSetNode>): Count {
  const countAll = (
    set: SelectionSetNode | undefined,
    type: GraphQLObjectType,
    { readArguments, parentPage }: { readArguments: ReadPageArguments; parentPage: number },
  ): number =>
    (set?.selections ?? []).reduce((sum, node) => {
      if (node.kind === Kind.FIELD) return sum + countField(node, type, { readArguments, parentPage })
      const inner = node.kind === Kind.INLINE_FRAGMENT ? node.selectionSet : fragments.get(node.name.value)
      return sum + countAll(inner, type, { readArguments, parentPage })
    }, 0)
  const countField = (
    node: FieldNode,
    type: GraphQLObjectType,
    { readArguments, parentPage }: { readArguments: ReadPageArguments; parentPage: number },
  ): number => {
    // Aliases of __typename are counted as during execution (object-budget.ts).
    if (node.name.value === '__typename') return Number(node.alias !== undefined)
    const field = type.getFields()[node.name.value]
    const namedType = field && getNamedType(field.type)
    if (field === undefined || !isObjectType(namedType)) return 0
    const pageSize = getPageSize(readArguments(node))
    const isList = isListType(getNullableType(field.type))
    // The page size of the rows in a connection is an argument of the connection.
    const rows = isList ? Math.min(pageSize, parentPage) : 1
    const innerPage = isConnection(field) ? pageSize : fullPage
    // A connection reads its rows even if no field requests them.
    const readRows = isConnection(field) ? pageSize : 0
    return (
      rows * (1 + readRows + countAll(node.selectionSet, namedType, { readArguments, parentPage: innerPage }))
    )
  }
  return (set, type, readArguments) => countAll(set, type, { readArguments, parentPage: fullPage })
}

function addDefaults(
  { variableDefinitions }: OperationDefinitionNode,
  providedVariables: Variables,
): Variables {
  const defaults = (variableDefinitions ?? []).map(({ variable, defaultValue }) => [
    variable.name.value,
    defaultValue && valueFromASTUntyped(defaultValue),
  ])
  return { ...Object.fromEntries(defaults), ...providedVariables }
}

const readPageArguments = (node: FieldNode, variables: Variables): Record<string, unknown> =>
  Object.fromEntries(
    (node.arguments ?? [])
      .filter(({ name }) => name.value === 'pagination' || name.value === 'limit' || name.value === 'first')
      .map(({ name, value }) => [
        name.value,
        valueFromASTUntyped(value, variables as Record<string, unknown>),
      ]),
  )
