// Limits of one GraphQL document. Length and tokens are limited before parsing, and the shape before validation
// (document-checks.ts). The rules here run once per document text, because their result is cached. The number of
// objects is limited before execution (document-size.ts) and during it (object-budget.ts).
import { maxAliasesRule } from '@escape.tech/graphql-armor-max-aliases'
import { maxDepthRule } from '@escape.tech/graphql-armor-max-depth'
import { maxDirectivesRule } from '@escape.tech/graphql-armor-max-directives'
import {
  type ASTVisitor,
  type FieldNode,
  GraphQLError,
  Kind,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
  getNamedType,
  isObjectType,
} from 'graphql'
import { isLarge } from './response-budget.ts'

export const limits = {
  queryLength: 32_768,
  tokens: 2_000,
  depth: 12,
  aliases: 30,
  directives: 50,
  // The largest list of pairs has 30,000 values. Each value is checked twice on the event loop: here and during
  // execution.
  variables: 40_000,
} as const

/**
 * Rejects fields of an @large type, and fields that return such a type, if they are requested under two
 * names.
 */
function createRepeatedContentsRule(context: ValidationContext): ASTVisitor {
  const collectFields = (selection: SelectionSetNode): FieldNode[] =>
    selection.selections.flatMap((node) => {
      if (node.kind === Kind.FIELD) return [node]
      const inner = node.kind === Kind.INLINE_FRAGMENT ? node : context.getFragment(node.name.value)
      return inner ? collectFields(inner.selectionSet) : []
    })
  return {
    SelectionSet(node) {
      const type = context.getParentType()
      const schema = context.getSchema()
      if (!isObjectType(type) || type === schema.getQueryType() || type === schema.getMutationType()) return
      const namesByField = new Map<string, string>()
      for (const { name, alias } of collectFields(node)) {
        const field = type.getFields()[name.value]
        const mayBeLarge = isLarge(type) || (field !== undefined && isLarge(getNamedType(field.type)))
        const key = alias?.value ?? name.value
        if (!mayBeLarge || (namesByField.get(name.value) ?? key) === key) namesByField.set(name.value, key)
        else
          context.reportError(
            new GraphQLError(`request ${type.name}.${name.value} only once: its contents can be large`),
          )
      }
    },
  }
}

export const limitRules: ValidationRule[] = [
  maxDepthRule({ n: limits.depth, flattenFragments: true }),
  maxAliasesRule({ n: limits.aliases }),
  maxDirectivesRule({ n: limits.directives }),
  createRepeatedContentsRule,
]
