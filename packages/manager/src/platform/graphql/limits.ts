// What one GraphQL document may ask for. Tokens and length are bounded before parsing; the rules here run once per
// document text, because the result is cached with it.
import { maxAliasesRule } from '@escape.tech/graphql-armor-max-aliases'
import { maxDepthRule } from '@escape.tech/graphql-armor-max-depth'
import { maxDirectivesRule } from '@escape.tech/graphql-armor-max-directives'
import {
  type ASTVisitor,
  type DocumentNode,
  type FieldNode,
  type GraphQLObjectType,
  GraphQLError,
  Kind,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
  getNamedType,
  getNullableType,
  isListType,
  isObjectType,
  visit,
} from 'graphql'
import { badRequest } from '../errors.ts'

export const limits = {
  queryLength: 32_768,
  tokens: 2_000,
  depth: 12,
  aliases: 30,
  directives: 50,
  rootFields: 20,
  sameName: 64,
  selections: 5_000,
  objects: 50_000,
} as const

const defaultPage = 100

/**
 * Cheap checks before the standard validation and the compiler, both of which are slow for some short documents: the one
 * compares every pair of fields that answer under one name, the other walks fragments as often as they are spread.
 */
export function checkDocument(document: DocumentNode): void {
  if (expandedSelections(document) > limits.selections)
    throw badRequest(
      `a document may have at most ${limits.selections} selections when its fragments are spread out`,
    )
  const seen = new Map<string, number>()
  visit(document, {
    OperationDefinition(node) {
      if (node.selectionSet.selections.length > limits.rootFields)
        throw badRequest(`an operation may have at most ${limits.rootFields} root fields`)
    },
    Field(node) {
      const name = node.alias?.value ?? node.name.value
      const times = (seen.get(name) ?? 0) + 1
      seen.set(name, times)
      if (times > limits.sameName)
        throw badRequest(`the name ${name} may stand at most ${limits.sameName} times in a document`)
    },
  })
}

/** How many selections the operations have with every fragment in its place; each fragment is counted once. */
function expandedSelections(document: DocumentNode): number {
  const fragments = new Map<string, SelectionSetNode>()
  for (const node of document.definitions)
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node.selectionSet)
  const known = new Map<string, number>()
  const size = (set: SelectionSetNode | undefined): number =>
    (set?.selections ?? []).reduce((sum, node) => {
      if (node.kind !== Kind.FRAGMENT_SPREAD) return sum + 1 + size(node.selectionSet)
      const name = node.name.value
      // Zero while it is being counted: a cycle is refused by the standard rules.
      if (!known.has(name)) known.set(name, 0).set(name, size(fragments.get(name)))
      return sum + 1 + (known.get(name) ?? 0)
    }, 0)
  return document.definitions.reduce(
    (sum, node) => sum + (node.kind === Kind.OPERATION_DEFINITION ? size(node.selectionSet) : 0),
    0,
  )
}

/** Refuses documents that could make the server build more objects than the limit, counting pages inside pages. */
function objectsRule(context: ValidationContext): ASTVisitor {
  const count = (selection: SelectionSetNode, type: GraphQLObjectType, path: readonly string[]): number => {
    let objects = 0
    for (const node of selection.selections) {
      if (node.kind === Kind.FIELD) objects += countField(node, type, path)
      else if (node.kind === Kind.INLINE_FRAGMENT) objects += count(node.selectionSet, type, path)
      else {
        const fragment = context.getFragment(node.name.value)
        // A cycle is reported by the standard rules; here it only must not run for ever.
        if (fragment && !path.includes(node.name.value))
          objects += count(fragment.selectionSet, type, [...path, node.name.value])
      }
      if (objects > limits.objects) return objects
    }
    return objects
  }
  const countField = (node: FieldNode, type: GraphQLObjectType, path: readonly string[]): number => {
    const field = type.getFields()[node.name.value]
    if (field === undefined || node.selectionSet === undefined) return 0
    const named = getNamedType(field.type)
    if (!isObjectType(named)) return 0
    const rows = isListType(getNullableType(field.type)) ? pageSize(node) : 1
    return rows * (1 + count(node.selectionSet, named, path))
  }
  return {
    OperationDefinition(node) {
      if (node.selectionSet.selections.length > limits.rootFields)
        context.reportError(
          new GraphQLError(`an operation may have at most ${limits.rootFields} root fields`),
        )
      const root = context.getSchema().getRootType(node.operation)
      if (root && count(node.selectionSet, root, []) > limits.objects)
        context.reportError(
          new GraphQLError(
            `this document could return more than ${limits.objects} objects; ask for smaller pages or fewer levels`,
          ),
        )
    },
  }
}

/** The literal page size, or the default one when it is absent or a variable. */
function pageSize(node: FieldNode): number {
  const page = node.arguments?.find((argument) => argument.name.value === 'pagination')?.value
  if (page?.kind !== Kind.OBJECT) return defaultPage
  const limit = page.fields.find((field) => field.name.value === 'limit')?.value
  const rows = limit?.kind === Kind.INT ? Number(limit.value) : defaultPage
  // A size that will be refused counts as a full page, lest it makes room for the others.
  return rows >= 1 && rows <= defaultPage ? rows : defaultPage
}

export const limitRules: ValidationRule[] = [
  maxDepthRule({ n: limits.depth, flattenFragments: true }),
  maxAliasesRule({ n: limits.aliases }),
  maxDirectivesRule({ n: limits.directives }),
  objectsRule,
]
