// What one GraphQL document may ask for. Length and tokens are bounded before parsing, its shape before validation
// (document-checks.ts); the rules here run once per document text, because their result is cached with it. How many
// objects it may produce is bounded before it runs (document-size.ts) and while it runs (object-budget.ts).
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
import { isLarge } from './answer-budget.ts'

export const limits = {
  queryLength: 32_768,
  tokens: 2_000,
  depth: 12,
  aliases: 30,
  directives: 50,
  // The largest list of pairs has 30,000 values; each is checked twice, here and by execution, on the event loop.
  variables: 40_000,
} as const

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
  repeatedContentsRule,
]
