// Every list field has a connection: a second field with the suffix `Connection` that returns the same rows page by
// page, with cursors and a total. The connections are derived from the schema, so no feature declares or resolves
// them.
import {
  type DocumentNode,
  type FieldDefinitionNode,
  type GraphQLFieldResolver,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  Kind,
  type ObjectTypeDefinitionNode,
  type ObjectTypeExtensionNode,
  getNullableType,
  isListType,
  isObjectType,
  parse,
} from 'graphql'
import { encodeListCursor } from '../lists/cursor.ts'
import { type ListArgs, defaultLimit } from '../lists/filters.ts'
import type { CountedPage } from '../lists/memory-page.ts'
import type { ListedRow } from '../lists/page.ts'
import { chargeObjects, getPageSize } from './object-budget.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- every list has its own argument types; codegen checks them
type Resolver = GraphQLFieldResolver<any, any, any, any>
type ObjectNode = ObjectTypeDefinitionNode | ObjectTypeExtensionNode
type ListCount = NonNullable<CountedPage<unknown>['listCount']>
type ConnectionArgs = ListArgs & { after?: string | null }

/** Counting stops at this number, so a larger total is not exact. */
const maxExactTotal = 10_000

/** Reading a total costs as much of the object budget as a full page. */
const costOfTotal = 100

const suffix = 'Connection'

/** Returns the document with a connection field beside every list field, and with the types of the connections. */
export function addConnections(document: DocumentNode): DocumentNode {
  const largeTypes = new Set(
    document.definitions.flatMap((node) =>
      node.kind === Kind.OBJECT_TYPE_DEFINITION && hasDirective(node, 'large') ? [node.name.value] : [],
    ),
  )
  const definedTypes = new Set(
    document.definitions.flatMap((node) =>
      node.kind === Kind.OBJECT_TYPE_DEFINITION ? [node.name.value] : [],
    ),
  )
  const addedTypes = new Map<string, string>()
  const definitions = document.definitions.map((node) => {
    if (!isObjectNode(node)) return node
    const names = new Set((node.fields ?? []).map(({ name }) => name.value))
    const fields = (node.fields ?? []).flatMap((field) => {
      const rowType = readRowType(field)
      // Some features declare a connection themselves, because its arguments differ from those of the list.
      if (rowType === null || names.has(`${field.name.value}${suffix}`)) return [field]
      if (!definedTypes.has(`${rowType}${suffix}`))
        addedTypes.set(rowType, renderType(rowType, largeTypes.has(rowType)))
      return [field, createConnectionField(field, rowType)]
    })
    return { ...node, fields }
  })
  return { ...document, definitions: [...definitions, ...parseTypes([...addedTypes.values()])] }
}

const isObjectNode = (node: { kind: Kind }): node is ObjectNode =>
  node.kind === Kind.OBJECT_TYPE_DEFINITION || node.kind === Kind.OBJECT_TYPE_EXTENSION

const hasDirective = ({ directives }: ObjectTypeDefinitionNode, name: string): boolean =>
  directives?.some((directive) => directive.name.value === name) === true

const hasArgument = ({ arguments: args }: FieldDefinitionNode, name: string): boolean =>
  args?.some((argument) => argument.name.value === name) === true

/** Returns the type of the rows if the field is a list with pages, otherwise null. */
function readRowType(field: FieldDefinitionNode): string | null {
  if (!hasArgument(field, 'pagination') || hasArgument(field, 'after')) return null
  const list = field.type.kind === Kind.NON_NULL_TYPE ? field.type.type : field.type
  if (list.kind !== Kind.LIST_TYPE) return null
  const row = list.type.kind === Kind.NON_NULL_TYPE ? list.type.type : list.type
  return row.kind === Kind.NAMED_TYPE ? row.name.value : null
}

function createConnectionField(field: FieldDefinitionNode, rowType: string): FieldDefinitionNode {
  const [template] = parseFields(
    `"Pages through the rows of \`${field.name.value}\` by cursor, and returns their total number."
     ${field.name.value}${suffix}("Returns the rows that follow this cursor, such as \`endCursor\` of the previous page." after: String): ${rowType}${suffix}!`,
  )
  if (template === undefined) throw new Error('the connection field is empty')
  // `limit` is an abbreviation of `pagination`, which a connection does not need.
  const args = (field.arguments ?? []).filter(({ name }) => name.value !== 'limit')
  return {
    ...template,
    arguments: [...args, ...(template.arguments ?? [])],
    directives: field.directives ?? [],
  }
}

const renderType = (rowType: string, isLarge: boolean): string => `
  "A page of a list. Pass \`pageInfo.endCursor\` as \`after\` to read the next page."
  type ${rowType}${suffix} ${isLarge ? '@large' : ''} {
    nodes: [${rowType}!]!
    pageInfo: PageInfo!
    "The number of rows on all pages, at most ${maxExactTotal}."
    totalCount: Int!
    "False if the list has more rows than \`totalCount\` states."
    isTotalExact: Boolean!
  }`

const parseTypes = (types: readonly string[]): DocumentNode['definitions'] =>
  types.length === 0 ? [] : parse(types.join('\n'), { noLocation: true }).definitions

function parseFields(sdl: string): readonly FieldDefinitionNode[] {
  const [node] = parse(`type Fields { ${sdl} }`, { noLocation: true }).definitions
  return node?.kind === Kind.OBJECT_TYPE_DEFINITION ? (node.fields ?? []) : []
}

/**
 * Sets the resolver of every connection that has none, and reports lists that were truncated at their default page
 * size.
 */
export function resolveConnections(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue
    const fields = type.getFields()
    for (const field of Object.values(fields)) {
      const connection = fields[`${field.name}${suffix}`]
      if (connection === undefined || !isListType(getNullableType(field.type))) continue
      if (field.resolve === undefined) throw new Error(`${type.name}.${field.name} has no resolver`)
      connection.resolve ??= createConnectionResolver(field.resolve)
      field.resolve = reportTruncation(field.resolve)
    }
  }
}

const getCursor = (node: ListedRow | undefined): string | null =>
  node === undefined ? null : encodeListCursor(node.listCursor)

/** Creates the resolver of a connection from the resolver of its list. The total is read only if it is requested. */
export function createConnectionResolver(listRows: Resolver): Resolver {
  return async (source, { after = null, ...args }: ConnectionArgs, context, info) => {
    const limit = getPageSize(args)
    const list = async (listArgs: ListArgs): Promise<CountedPage<ListedRow>> =>
      (await listRows(source, listArgs, context, info)) as CountedPage<ListedRow>
    const rows = await list({ ...args, reading: { after, hasCursors: true } })
    const nodes = rows.slice(0, limit)
    const readCount = async (): Promise<ListCount> => {
      chargeObjects(context as object, costOfTotal)
      if (rows.listCount !== undefined) return rows.listCount
      const [row] = await list({
        ...args,
        pagination: { limit: 1, offset: 0 },
        reading: { hasTotal: true },
      })
      return { total: row?.listTotal ?? 0, isExact: true }
    }
    let count: Promise<ListCount> | undefined
    const countRows = (): Promise<ListCount> => (count ??= readCount())
    return {
      nodes,
      // Only the connections that an earlier release published have edges.
      edges: () => nodes.map((node) => ({ node, cursor: getCursor(node) })),
      pageInfo: {
        hasNextPage: rows.length > limit,
        hasPreviousPage: after !== null || (args.pagination?.offset ?? 0) > 0,
        startCursor: getCursor(nodes[0]),
        endCursor: getCursor(nodes.at(-1)),
      },
      totalCount: async () => Math.min((await countRows()).total, maxExactTotal),
      isTotalExact: async () => {
        const { total, isExact } = await countRows()
        return isExact && total <= maxExactTotal
      },
    }
  }
}

// A response reports at most this many truncated lists.
const maxTruncatedLists = 20

/** A list that was truncated at its default page size. */
export type TruncatedList = { path: (string | number)[]; limit: number }
type Context = { truncatedLists?: TruncatedList[] }

/**
 * Wraps a list resolver, so that a response reports lists that were truncated because the caller requested no page.
 */
function reportTruncation(listRows: Resolver): Resolver {
  return async (source, args: ListArgs & { limit?: number | null }, context: Context, info) => {
    const isPaged = (args.pagination ?? args.limit ?? args.reading ?? null) !== null
    if (isPaged) return listRows(source, args, context, info)
    const rows = (await listRows(
      source,
      { ...args, reading: { hasNextRow: true } },
      context,
      info,
    )) as unknown[]
    if (rows.length <= defaultLimit) return rows
    context.truncatedLists ??= []
    if (context.truncatedLists.length < maxTruncatedLists)
      context.truncatedLists.push({ path: pathToArray(info.path), limit: defaultLimit })
    return rows.slice(0, defaultLimit)
  }
}

function pathToArray(path: GraphQLResolveInfo['path']): (string | number)[] {
  const keys: (string | number)[] = []
  for (let step: typeof path | undefined = path; step !== undefined; step = step.prev) keys.unshift(step.key)
  return keys
}
