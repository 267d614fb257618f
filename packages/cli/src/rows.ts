// Reads and writes the rows of a resource with the documents in its definition.
import { type CallOptions, type Connection, GraphqlError, type TypedDocument, graphql } from '@manager/client'
import { Failure } from './failures.ts'
import type { Row } from './output.ts'
import type { AnyDocument, Operation, Resource } from './resource.ts'

/** The row that contains other rows. */
export type ParentRow = { id: string; slug?: string }
export type Filter = { field: string; value: string }
export type Order = { field: string; direction: 'ASC' | 'DESC' }
export type Listing = {
  filters?: readonly Filter[]
  order?: readonly Order[]
  limit?: number
  isDetailed?: boolean
} & CallOptions
type ChangeResult = { row: Row; secret: string | null }

const pageSize = 100
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
export const isId = (text: string): boolean => uuid.test(text)

/** Executes a document and returns the value of its only root field. */
async function query(
  connection: Connection,
  document: AnyDocument,
  variables: Row,
  options: CallOptions = {},
): Promise<unknown> {
  const result = await graphql(connection, document as TypedDocument<Row, Row>, variables, options)
  return Object.values(result)[0]
}

/** Fetches the rows of the parent page by page, up to `limit`. `hasMore` is true if more rows exist. */
export async function listRows(
  connection: Connection,
  { list }: Resource,
  parent: ParentRow | null,
  { filters = [], order = [], limit: maxRows = Infinity, isDetailed = false, signal }: Listing = {},
): Promise<{ rows: Row[]; hasMore: boolean }> {
  const rows: Row[] = []
  const commonVariables = {
    ...(list.parent === undefined ? {} : { [list.parent]: parent?.[list.parentKey ?? 'id'] }),
    ...(list.hasFilters === false ? {} : { filters, order }),
  }
  const document = isDetailed ? (list.details ?? list.document) : list.document
  for (let [offset, limit] = [0, pageSize]; ;) {
    const variables = { ...commonVariables, pagination: { limit, offset } }
    const result = await query(connection, document, variables, { signal }).catch((error: unknown) => {
      if (limit === 1 || !isPageTooLarge(error)) throw error
      return null
    })
    if (result === null) {
      limit /= 10
      continue
    }
    const page = (list.row === undefined ? result : (result as Row)[list.row]) as Row[]
    rows.push(...(list.convert === undefined ? page : page.map(list.convert)))
    if (rows.length > maxRows) return { rows: rows.slice(0, maxRows), hasMore: true }
    if (page.length < limit) return { rows, hasMore: false }
    offset += limit
  }
}

/** Returns whether the Manager rejected a page because of its size. A smaller page may be accepted. */
const isPageTooLarge = (error: unknown): boolean =>
  error instanceof GraphqlError && error.message.includes('request smaller pages')

/** Returns the row that has this id or key, or null. Throws if several rows have the key. */
async function findRow(
  connection: Connection,
  resource: Resource,
  parent: ParentRow | null,
  { named, signal }: { named: string } & CallOptions,
): Promise<Row | null> {
  for (const field of isId(named) ? ['id', ...resource.keys] : resource.keys) {
    // The filter also matches longer names that contain the text.
    const filters = resource.list.hasFilters === false ? [] : [{ field, value: named }]
    const { rows } = await listRows(connection, resource, parent, { filters, isDetailed: true, signal })
    const matches = rows.filter((row) => row[field] === (field === 'id' ? named.toLowerCase() : named))
    if (matches.length > 1) throw createAmbiguityFailure(resource, named, matches)
    if (matches[0] !== undefined) return matches[0]
  }
  return null
}

function createAmbiguityFailure({ name }: Resource, named: string, rows: readonly Row[]): Failure {
  const ids = rows.slice(0, 10).map(({ id }) => String(id))
  return new Failure('usage', `${rows.length} ${name} are named ${named}. Use an id: ${ids.join(', ')}`)
}

/** Returns the row that has this id or key. Throws if no row or several rows have it. */
export async function getRow(
  connection: Connection,
  resource: Resource,
  parent: ParentRow | null,
  options: { named: string } & CallOptions,
): Promise<Row> {
  const row = await findRow(connection, resource, parent, options)
  if (row !== null) return row
  const list = `svc ${resource.name} list`
  throw new Failure(
    'notFound',
    `The ${resource.singular} ${options.named} does not exist, or you cannot see it. See: ${list}`,
  )
}

/** Creates a row. Also returns the secret if the operation creates one. */
export async function createRow(
  connection: Connection,
  resource: Resource,
  parent: ParentRow | null,
  { values, signal }: { values: Row } & CallOptions,
): Promise<ChangeResult> {
  const operation = getOperation(resource, 'create')
  const parentVariables = operation.parent === undefined ? {} : { [operation.parent]: parent?.id }
  const variables = { ...parentVariables, ...createInput(operation, values) }
  const { row, secret } = await executeChange(connection, operation, variables, { signal })
  return { row: resource.list.convert?.(row) ?? row, secret }
}

/**
 * Updates the given fields of a row and returns the row. With `revision`, the Manager rejects the update if the row
 * has changed since that revision.
 */
export async function updateRow(
  connection: Connection,
  resource: Resource,
  id: string,
  { values, revision, signal }: { values: Row; revision?: unknown } & CallOptions,
): Promise<Row> {
  const operation = getOperation(resource, 'update')
  const variables = { id, ...createInput(operation, { ...values, expectedRevision: revision }) }
  const { row } = await executeChange(connection, operation, variables, { signal })
  return resource.list.convert?.(row) ?? row
}

/** Deletes a row. The Manager rejects the deletion if the row has changed since it was read. */
export async function deleteRow(
  connection: Connection,
  resource: Resource,
  { id, revision }: Row,
  options: CallOptions,
): Promise<void> {
  const variables = { id, expectedRevision: revision }
  await query(connection, getOperation(resource, 'delete').document, variables, options)
}

function getOperation(resource: Resource, kind: 'create' | 'update' | 'delete'): Operation {
  const operation = resource[kind]
  if (operation === undefined) throw new Failure('usage', `The API cannot ${kind} ${resource.name}.`)
  return operation
}

const createInput = ({ isFlat = false, defaultFields: fixed }: Operation, values: Row): Row =>
  isFlat ? { ...fixed, ...values } : { input: { ...fixed, ...values } }

async function executeChange(
  connection: Connection,
  { document, row, secret }: Operation,
  variables: Row,
  options: CallOptions,
): Promise<ChangeResult> {
  const result = (await query(connection, document, variables, options)) as Row
  return {
    row: row === undefined ? result : (result[row] as Row),
    secret: secret === undefined ? null : (result[secret] as string | null),
  }
}
