// Parses documents, checks them against limits and schema, and caches them, because callers send the same few. Errors
// are cached too: finding them can take as long as running a valid document.
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
/** A valid document, and the operation in it to run. */
export type Operation = { document: DocumentNode; operation: OperationDefinitionNode }

const maxKept = 256
const maxRefused = { max: 1_000, maxSize: 1_048_576 }
// Memory of an entry in addition to its texts.
const entryBytes = 200

/** Creates a reader of operations; each document is parsed and validated once, for as long as it is cached. */
export function createDocuments(schema: GraphQLSchema) {
  const kept = new LRUCache<string, DocumentNode>({ max: maxKept })
  // Rejected texts are keyed by hash: a text can have 32 KiB, and callers can send any number of them.
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
    /** Whether the text is a cached valid document. */
    isKnown: (text: string): boolean => kept.has(text),
    /** Returns the requested operation of a document, or the errors of the document. */
    read: (text: string, operationName?: string): Operation | { errors: readonly AppError[] } => {
      const checked = check(text)
      if ('errors' in checked) return checked
      const operation = getOperationAST(checked.document, operationName)
      if (operation) return { document: checked.document, operation }
      const problem =
        operationName === undefined
          ? 'set operationName: the document does not contain exactly one operation'
          : `the document contains no operation named ${operationName}`
      return { errors: [badRequest(problem)] }
    },
  }
}

const rules = [...specifiedRules, ...limitRules]

function checkText(schema: GraphQLSchema, text: string): Checked {
  try {
    // Locations are disabled: responses do not show them, and computing the location of a failed field reads all lines
    // before it.
    const document = parse(text, { maxTokens: limits.tokens, noLocation: true })
    checkDocument(document)
    const errors = validate(schema, document, rules, { maxErrors })
    return errors.length === 0 ? { document } : { errors: errors.map(documentError) }
  } catch (error) {
    if (error instanceof AppError) return { errors: [error] }
    // The parser throws its errors, and so do the rules for depth, aliases and directives.
    if (error instanceof GraphQLError) return { errors: [documentError(error)] }
    throw error
  }
}
