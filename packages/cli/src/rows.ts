// Rows of a resource, read and written by the documents that its description makes.
import { type CallOptions, type Connection, type TypedDocument, graphql } from '@manager/client'
import { Failure } from './failures.ts'
import type { Row } from './output.ts'
import type { AnyDocument, Operation, Resource } from './resource.ts'

/** What a row belongs to. */
export type ParentRow = { id: string; slug?: string }
export type Filter = { field: string; value: string }
export type Order = { field: string; direction: 'ASC' | 'DESC' }
export type Listing = {
  filters?: readonly Filter[]
  order?: readonly Order[]
  limit?: number
  isDetailed?: boolean
} & CallOptions
type Changed = { row: Row; secret: string | null }

const pageSize = 100
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
export const isId = (text: string): boolean => uuid.test(text)

/** What the one root field of the document answers. */
async function ask(
  connection: Connection,
  document: AnyDocument,
  variables: Row,
  options: CallOptions = {},
): Promise<unknown> {
  const answer = await graphql(connection, document as TypedDocument<Row, Row>, variables, options)
  return Object.values(answer)[0]
}

/** Rows of the parent, page by page, at most `limit`; `hasMore` tells whether there are more. */
export async function listRows(
  connection: Connection,
  { list }: Resource,
  parent: ParentRow | null,
  { filters = [], order = [], limit = Infinity, isDetailed = false, signal }: Listing = {},
): Promise<{ rows: Row[]; hasMore: boolean }> {
  const rows: Row[] = []
  const fixed = {
    ...(list.parent === undefined ? {} : { [list.parent]: parent?.[list.parentKey ?? 'id'] }),
    ...(list.hasFilters === false ? {} : { filters, order }),
  }
  const document = isDetailed ? (list.details ?? list.document) : list.document
  for (let offset = 0; ; offset += pageSize) {
    const variables = { ...fixed, pagination: { limit: pageSize, offset } }
    const answer = await ask(connection, document, variables, { signal })
    const page = (list.row === undefined ? answer : (answer as Row)[list.row]) as Row[]
    rows.push(...page)
    if (rows.length > limit) return { rows: rows.slice(0, limit), hasMore: true }
    if (page.length < pageSize) return { rows, hasMore: false }
  }
}

/** The row that the text names by id or by one of its keys; null when there is none. */
async function findRow(
  connection: Connection,
  resource: Resource,
  parent: ParentRow | null,
  { named, signal }: { named: string } & CallOptions,
): Promise<Row | null> {
  for (const field of isId(named) ? ['id', ...resource.keys] : resource.keys) {
    // Names match as a part of a text too.
    const filters = resource.list.hasFilters === false ? [] : [{ field, value: named }]
    const { rows } = await listRows(connection, resource, parent, { filters, isDetailed: true, signal })
    const exact = rows.filter((row) => row[field] === (field === 'id' ? named.toLowerCase() : named))
    if (exact.length > 1) throw ambiguous(resource, named, exact)
    if (exact[0] !== undefined) return exact[0]
  }
  return null
}

function ambiguous({ name }: Resource, named: string, rows: readonly Row[]): Failure {
  const ids = rows.slice(0, 10).map(({ id }) => String(id))
  return new Failure(
    'usage',
    `${rows.length} ${name} are called ${named}. Name one by its id: ${ids.join(', ')}`,
  )
}

/** The same; throws when there is none. */
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
    `There is no ${resource.one} ${options.named}, or you cannot see it. See: ${list}`,
  )
}

/** Makes a row of the values. */
export async function createRow(
  connection: Connection,
  resource: Resource,
  parent: ParentRow | null,
  { values, signal }: { values: Row } & CallOptions,
): Promise<Changed> {
  const operation = operationOf(resource, 'create')
  const named = operation.parent === undefined ? {} : { [operation.parent]: parent?.id }
  const variables = { ...named, ...given(operation, values) }
  return change(connection, operation, variables, { signal })
}

/** Changes the values of a row. */
export async function updateRow(
  connection: Connection,
  resource: Resource,
  id: string,
  { values, signal }: { values: Row } & CallOptions,
): Promise<Row> {
  const operation = operationOf(resource, 'update')
  const variables = { id, ...given(operation, values) }
  return (await change(connection, operation, variables, { signal })).row
}

/** Deletes a row. */
export async function deleteRow(
  connection: Connection,
  resource: Resource,
  id: string,
  options: CallOptions,
): Promise<void> {
  await ask(connection, operationOf(resource, 'delete').document, { id }, options)
}

function operationOf(resource: Resource, kind: 'create' | 'update' | 'delete'): Operation {
  const operation = resource[kind]
  if (operation === undefined) throw new Failure('usage', `The API cannot ${kind} ${resource.name}.`)
  return operation
}

const given = ({ isFlat = false, fixed }: Operation, values: Row): Row =>
  isFlat ? { ...fixed, ...values } : { input: { ...fixed, ...values } }

async function change(
  connection: Connection,
  { document, row, secret }: Operation,
  variables: Row,
  options: CallOptions,
): Promise<Changed> {
  const done = (await ask(connection, document, variables, options)) as Row
  return {
    row: row === undefined ? done : (done[row] as Row),
    secret: secret === undefined ? null : (done[secret] as string | null),
  }
}
