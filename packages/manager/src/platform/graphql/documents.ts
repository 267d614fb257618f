// Documents: parsed, checked against limits and schema, and cached by their text, because callers send the same few.
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  type OperationDefinitionNode,
  getOperationAST,
  parse,
  specifiedRules,
  validate,
} from 'graphql'
import { LRUCache } from 'lru-cache'
import { AppError, badRequest } from '../errors.ts'
import { checkDocument } from './document-checks.ts'
import { limitRules, limits } from './limits.ts'
import { maxErrors, documentError } from './error-messages.ts'

type Checked = { document: DocumentNode } | { errors: readonly AppError[] }
export type Operation = { document: DocumentNode; operation: OperationDefinitionNode }

const maxKept = 256

/** Reads the operation of a text, or what is wrong with it; a valid document is parsed and validated once. */
export function createDocuments(schema: GraphQLSchema) {
  const kept = new LRUCache<string, DocumentNode>({ max: maxKept })
  const check = (text: string): Checked => {
    const known = kept.get(text)
    if (known !== undefined) return { document: known }
    const checked = checkText(schema, text)
    if ('document' in checked) kept.set(text, checked.document)
    return checked
  }
  return (text: string, operationName?: string): Operation | { errors: readonly AppError[] } => {
    const checked = check(text)
    if ('errors' in checked) return checked
    const operation = getOperationAST(checked.document, operationName)
    if (operation) return { document: checked.document, operation }
    const problem =
      operationName === undefined
        ? 'name the operation to run in operationName: the document does not hold exactly one'
        : `the document holds no operation named ${operationName}`
    return { errors: [badRequest(problem)] }
  }
}

function checkText(schema: GraphQLSchema, text: string): Checked {
  try {
    // Without locations: they are never shown, and each failed field would count all lines before it.
    const document = parse(text, { maxTokens: limits.tokens, noLocation: true })
    checkDocument(document)
    const rules = [...specifiedRules, ...limitRules]
    const errors = validate(schema, document, rules, { maxErrors: maxErrors })
    return errors.length === 0 ? { document } : { errors: errors.map(documentError) }
  } catch (error) {
    if (error instanceof AppError) return { errors: [error] }
    // The parser throws what is wrong, and so do the rules about depth, aliases and directives.
    if (error instanceof GraphQLError) return { errors: [documentError(error)] }
    throw error
  }
}
