// Parses documents, checks them against limits and schema, and caches them, because callers send the same
// few documents. Errors are cached too: validation can take as long as running a valid document.
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
import { maxErrors, createDocumentError } from './error-messages.ts'

type CheckedDocument = { document: DocumentNode } | { errors: readonly AppError[] }
/** A valid document and the operation to run. */
export type Operation = { document: DocumentNode; operation: OperationDefinitionNode }

const maxValidDocuments = 256
const rejectedLimits = { max: 1_000, maxSize: 1_048_576 }
// Memory of an entry in addition to its text.
const entryBytes = 200

/** Creates a reader of operations. Each document is parsed and validated only once while it is cached. */
export function createDocuments(schema: GraphQLSchema) {
  const validDocuments = new LRUCache<string, DocumentNode>({ max: maxValidDocuments })
  // Rejected documents are keyed by hash: a document can be 32 KiB long, and callers can send any number
  // of documents.
  const rejectedDocuments = new LRUCache<string, readonly string[]>({
    ...rejectedLimits,
    sizeCalculation: (messages) => messages.reduce((sum, { length }) => sum + 2 * length, entryBytes),
  })
  const check = (text: string): CheckedDocument => {
    const cachedDocument = validDocuments.get(text)
    if (cachedDocument !== undefined) return { document: cachedDocument }
    const hash = createHash('sha256').update(text).digest('base64')
    const messages = rejectedDocuments.get(hash)
    if (messages !== undefined) return { errors: messages.map((message) => badRequest(message)) }
    const checkedDocument = checkText(schema, text)
    if ('document' in checkedDocument) validDocuments.set(text, checkedDocument.document)
    else
      rejectedDocuments.set(
        hash,
        checkedDocument.errors.map(({ message }) => message),
      )
    return checkedDocument
  }
  return {
    /** Whether a valid document with this text is cached. */
    isKnown: (text: string): boolean => validDocuments.has(text),
    /** Returns the requested operation of a document, or the errors of the document. */
    read: (text: string, operationName?: string): Operation | { errors: readonly AppError[] } => {
      const checkedDocument = check(text)
      if ('errors' in checkedDocument) return checkedDocument
      const operation = getOperationAST(checkedDocument.document, operationName)
      if (operation) return { document: checkedDocument.document, operation }
      const problem =
        operationName === undefined
          ? 'set operationName: the document does not contain exactly one operation'
          : `the document contains no operation named ${operationName}`
      return { errors: [badRequest(problem)] }
    },
  }
}

const rules = [...specifiedRules, ...limitRules]

function checkText(schema: GraphQLSchema, text: string): CheckedDocument {
  try {
    // Locations are disabled: responses do not show them, and computing the location of a failed field reads all
    // preceding lines.
    const document = parse(text, { maxTokens: limits.tokens, noLocation: true })
    checkDocument(document)
    const errors = validate(schema, document, rules, { maxErrors })
    return errors.length === 0 ? { document } : { errors: errors.map(createDocumentError) }
  } catch (error) {
    if (error instanceof AppError) return { errors: [error] }
    // The parser throws its errors, and so do the rules for depth, aliases and directives.
    if (error instanceof GraphQLError) return { errors: [createDocumentError(error)] }
    throw error
  }
}
