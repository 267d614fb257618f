// Documents: parsed, checked against limits and schema, and cached, because callers send the same few. What is wrong with
// a document is cached too: finding it out can take as long as running a valid one.
import { createHash } from 'node:crypto'
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
const maxRefused = { max: 1_000, maxSize: 1_048_576 }
// An entry takes memory beside its texts.
const entryBytes = 200

/** Reads operations of texts; each document is parsed and validated once, for as long as it is cached. */
export function createDocuments(schema: GraphQLSchema) {
  const kept = new LRUCache<string, DocumentNode>({ max: maxKept })
  // By hash: a refused text may have 32 KiB, and there are as many as callers like to send.
  const refused = new LRUCache<string, readonly string[]>({
    ...maxRefused,
    sizeCalculation: (messages) => messages.reduce((sum, { length }) => sum + 2 * length, entryBytes),
  })
  const check = (text: string): Checked => {
    const known = kept.get(text)
    if (known !== undefined) return { document: known }
    const hash = createHash('sha256').update(text).digest('base64')
    const messages = refused.get(hash)
    if (messages !== undefined) return { errors: messages.map(badRequest) }
    const checked = checkText(schema, text)
    if ('document' in checked) kept.set(text, checked.document)
    else
      refused.set(
        hash,
        checked.errors.map(({ message }) => message),
      )
    return checked
  }
  return {
    /** Whether the text is that of a cached valid document. */
    isKnown: (text: string): boolean => kept.has(text),
    /** Reads the operation of a text, or what is wrong with it. */
    read: (text: string, operationName?: string): Operation | { errors: readonly AppError[] } => {
      const checked = check(text)
      if ('errors' in checked) return checked
      const operation = getOperationAST(checked.document, operationName)
      if (operation) return { document: checked.document, operation }
      const problem =
        operationName === undefined
          ? 'name the operation to run in operationName: the document does not hold exactly one'
          : `the document holds no operation named ${operationName}`
      return { errors: [badRequest(problem)] }
    },
  }
}

const rules = [...specifiedRules, ...limitRules]

function checkText(schema: GraphQLSchema, text: string): Checked {
  try {
    // Without locations: they are never shown, and each failed field would count all lines before it.
    const document = parse(text, { maxTokens: limits.tokens, noLocation: true })
    checkDocument(document)
    const errors = validate(schema, document, rules, { maxErrors })
    return errors.length === 0 ? { document } : { errors: errors.map(documentError) }
  } catch (error) {
    if (error instanceof AppError) return { errors: [error] }
    // The parser throws what is wrong, and so do the rules about depth, aliases and directives.
    if (error instanceof GraphQLError) return { errors: [documentError(error)] }
    throw error
  }
}
