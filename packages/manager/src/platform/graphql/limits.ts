// What one GraphQL document may ask for. Length and tokens are bounded before parsing, its shape before validation
// (document-checks.ts); the rules here run once per document text, because their result is cached with it.
import { maxAliasesRule } from '@escape.tech/graphql-armor-max-aliases'
import { maxDepthRule } from '@escape.tech/graphql-armor-max-depth'
import { maxDirectivesRule } from '@escape.tech/graphql-armor-max-directives'
import {
  type ASTVisitor,
  type FieldNode,
  GraphQLError,
  type GraphQLObjectType,
  Kind,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
  getNamedType,
  getNullableType,
  isListType,
  isObjectType,
} from 'graphql'
import { isLarge } from './answer-budget.ts'

export const limits = {
  queryLength: 32_768,
  tokens: 2_000,
  depth: 12,
  aliases: 30,
  directives: 50,
  objects: 100_000,
  // The largest list of pairs has 30,000 values; each is checked twice, here and by execution, on the event loop.
  variables: 40_000,
} as const

const defaultPage = 100

/**
 * Refuses documents whose response could hold more objects than the limit, counting pages inside pages. What the
 * objects hold is charged while they are shown (answer-budget.ts). Plain recursion is safe: what reaches validation has
 * no cycle and a bounded number of selections.
 */
function objectsRule(context: ValidationContext): ASTVisitor {
  const countAll = (selection: SelectionSetNode, type: GraphQLObjectType): number => {
    let objects = 0
    for (const node of selection.selections)
      if (node.kind === Kind.FIELD) objects += countField(node, type)
      else {
        const inner = node.kind === Kind.INLINE_FRAGMENT ? node : context.getFragment(node.name.value)
        if (inner) objects += countAll(inner.selectionSet, type)
      }
    return objects
  }
  const countField = (node: FieldNode, type: GraphQLObjectType): number => {
    const field = type.getFields()[node.name.value]
    // No type has __typename, so nothing charges it: clients request it once per object, attackers under many names.
    if (field === undefined) return node.alias === undefined ? 0 : 1
    const named = getNamedType(field.type)
    if (node.selectionSet === undefined || !isObjectType(named)) return 0
    const rows = isListType(getNullableType(field.type)) ? pageSize(node) : 1
    return rows * (1 + countAll(node.selectionSet, named))
  }
  return {
    OperationDefinition(node) {
      const root = context.getSchema().getRootType(node.operation)
      if (root && countAll(node.selectionSet, root) > limits.objects)
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
  const argument = (name: string) => node.arguments?.find((one) => one.name.value === name)?.value
  const page = argument('pagination')
  const limit =
    page?.kind === Kind.OBJECT
      ? page.fields.find((field) => field.name.value === 'limit')?.value
      : argument('limit')
  const rows = limit?.kind === Kind.INT ? Number(limit.value) : defaultPage
  // A size that will be refused counts as a full page, so that it makes no room for the others.
  return rows >= 1 && rows <= defaultPage ? rows : defaultPage
}

/** Refuses fields that lead to, or are of, a type declared @large and are requested under two names. */
function repeatedContentsRule(context: ValidationContext): ASTVisitor {
  const fieldsOf = (selection: SelectionSetNode): FieldNode[] =>
    selection.selections.flatMap((node) => {
      if (node.kind === Kind.FIELD) return [node]
      const inner = node.kind === Kind.INLINE_FRAGMENT ? node : context.getFragment(node.name.value)
      return inner ? fieldsOf(inner.selectionSet) : []
    })
  return {
    SelectionSet(node) {
      const type = context.getParentType()
      const schema = context.getSchema()
      if (!isObjectType(type) || type === schema.getQueryType() || type === schema.getMutationType()) return
      const asked = new Map<string, string>()
      for (const { name, alias } of fieldsOf(node)) {
        const field = type.getFields()[name.value]
        const mayBeLarge = isLarge(type) || (field !== undefined && isLarge(getNamedType(field.type)))
        const key = alias?.value ?? name.value
        if (!mayBeLarge || (asked.get(name.value) ?? key) === key) asked.set(name.value, key)
        else
          context.reportError(
            new GraphQLError(`ask for ${type.name}.${name.value} once: its contents may be large`),
          )
      }
    },
  }
}

export const limitRules: ValidationRule[] = [
  maxDepthRule({ n: limits.depth, flattenFragments: true }),
  maxAliasesRule({ n: limits.aliases }),
  maxDirectivesRule({ n: limits.directives }),
  objectsRule,
  repeatedContentsRule,
]
