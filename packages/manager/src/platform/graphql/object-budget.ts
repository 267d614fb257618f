// Limits the number of objects in one response. Objects are counted while they are produced, because page sizes say
// little about how many rows exist. Room for a page is reserved before the page is read. The number of
// rows in memory is therefore limited for each request, regardless of the number of lists that it requests
// concurrently.
import {
  type GraphQLField,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  Kind,
  OperationTypeNode,
  type SelectionSetNode,
  defaultFieldResolver,
  getNamedType,
  getNullableType,
  isListType,
  isObjectType,
} from 'graphql'
import { type AppError, badRequest, unavailable } from '../errors.ts'
import { isLarge } from './response-budget.ts'
import { isResponseRejected, rejectResponse, createPendingPromise } from './rejected-responses.ts'
import type { Turn } from './turns.ts'
import { waitForNextTurn } from './yielding.ts'

export const maxObjects = 100_000
/** Default and maximum page size of lists. */
export const fullPage = 100
// A response with more objects is large. To limit memory, large responses to one person are built one at a time.
const largeObjectCount = 5_000
// Limits of the rows that one request reads concurrently. Near the end of the budget, 100 pages are still read
// together, because one statement per page would take too long.
const [maxRoom, minRoom] = [250 * fullPage, 100 * fullPage]

type WaitingRead = { rows: number; resume: () => void }
type Budget = {
  max: number
  producedCount: number
  /** Maximum number of rows in the pages that are being read. */
  reservedRows: number
  waitingReads: WaitingRead[]
}
/** The part of the resolver context that is used here. */
type Context = {
  turn?: Pick<Turn, 'pace' | 'reserveLargeResponse'>
  /** Whether the caller has disconnected. */
  isDisconnected?: () => boolean
}

const budgets = new WeakMap<object, Budget>()

function getBudget(context: Context, max: number): Budget {
  let budget = budgets.get(context)
  if (budget === undefined)
    budgets.set(context, (budget = { max, producedCount: 0, reservedRows: 0, waitingReads: [] }))
  return budget
}

/** Wraps the resolvers in place to count every object; a response with more than `max` objects is rejected. */
export function countObjects(schema: GraphQLSchema, max = maxObjects): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue
    for (const field of Object.values(type.getFields()))
      if (isObjectType(getNamedType(field.type))) countField(field, max)
  }
}

function countField(field: GraphQLField<unknown, unknown>, max: number): void {
  const { resolve = defaultFieldResolver } = field
  // The bytes of large values are charged instead (response-budget.ts).
  const isCharged = isLarge(getNamedType(field.type))
  // Without a resolver, the rows are part of the parent, which is already in memory.
  const readsPage =
    !isCharged &&
    field.resolve !== undefined &&
    (isListType(getNullableType(field.type)) || isConnection(field))
  field.resolve = (source, args, givenContext, info) => {
    const context = givenContext as Context
    const budget = getBudget(context, max)
    const rows = readsPage ? getPageSize(args) : 0
    const produce = (value: unknown): unknown => {
      release(budget, rows)
      const objects = countProduced(value)
      if (!isCharged) budget.producedCount += objects * computeWeight(info)
      const problem = findProblem(budget, context, info)
      if (problem !== null) return rejectResponse(context, problem, info)
      const turn = objects === 0 ? null : waitForTurn(budget, context, objects)
      return turn === null
        ? value
        : turn.then(() => (isResponseRejected(context) ? createPendingPromise() : value))
    }
    const fail = (error: unknown): never => {
      release(budget, rows)
      throw error
    }
    const readRows = (): unknown => {
      if (isResponseRejected(context)) return createPendingPromise()
      let value: unknown
      try {
        value = resolve(source, args, context, info)
      } catch (error) {
        return fail(error)
      }
      return value instanceof Promise ? value.then(produce, fail) : produce(value)
    }
    const roomAvailable = reserve(budget, rows)
    return roomAvailable === null ? readRows() : roomAvailable.then(readRows)
  }
}

/**
 * Returns null if the objects may be returned immediately, otherwise a promise that resolves when they may be
 * returned.
 */
function waitForTurn(budget: Budget, { turn }: Context, objects: number): Promise<unknown> | null {
  const waitForPace = (): Promise<void> | null => waitForNextTurn(turn?.pace ?? budget, objects)
  const largeEntered = budget.producedCount > largeObjectCount ? (turn?.reserveLargeResponse() ?? null) : null
  return largeEntered === null ? waitForPace() : largeEntered.then(waitForPace)
}

/** Returns the reason to stop building the response, or null to continue. */
function findProblem(
  { producedCount, max }: Budget,
  { isDisconnected }: Context,
  { operation }: GraphQLResolveInfo,
): AppError | null {
  if (producedCount > max) return createTooManyObjectsError(max)
  // A query is stopped if its caller disconnects. Mutations run to completion.
  const isAbandoned = operation.operation === OperationTypeNode.QUERY && isDisconnected?.() === true
  return isAbandoned ? unavailable('the client disconnected') : null
}

/** Returns the number of objects that a resolver has produced, including the rows of a connection. */
function countProduced(value: unknown): number {
  if (Array.isArray(value)) return value.length
  if (value === null || value === undefined) return 0
  const { nodes } = value as { nodes?: unknown }
  return Array.isArray(nodes) ? 1 + nodes.length : 1
}

/** Charges work that produces no object, such as counting rows; throws 400 if the budget of the response is exceeded. */
export function chargeObjects(context: object, count: number): void {
  const budget = getBudget(context, maxObjects)
  budget.producedCount += count
  if (budget.producedCount > budget.max) throw createTooManyObjectsError(budget.max)
}

const createTooManyObjectsError = (max: number): AppError =>
  badRequest(`this response would have more than ${max} objects; request smaller pages or fewer levels`)

/** Whether the field returns a page of rows in an object. */
export const isConnection = ({ type }: Pick<GraphQLField<unknown, unknown>, 'type'>): boolean =>
  getNamedType(type).name.endsWith('Connection')

/** Returns the requested page size if it is valid, otherwise the default. */
export function getPageSize(args: {
  pagination?: { limit?: unknown } | null
  limit?: unknown
  first?: unknown
}): number {
  const size = args.pagination?.limit ?? args.limit ?? args.first
  return typeof size === 'number' && size >= 1 && size <= fullPage ? size : fullPage
}

const hasRoom = ({ max, producedCount, reservedRows }: Budget, rows: number): boolean =>
  reservedRows === 0 || reservedRows + rows <= Math.min(maxRoom, Math.max(max - producedCount, minRoom))

/** Returns null if there is room for the rows, otherwise a promise that resolves when there is room. */
function reserve(budget: Budget, rows: number): Promise<void> | null {
  if (rows > 0 && !hasRoom(budget, rows))
    return new Promise((resume) => budget.waitingReads.push({ rows, resume }))
  budget.reservedRows += rows
  return null
}

function release(budget: Budget, rows: number): void {
  budget.reservedRows -= rows
  let resumedCount = 0
  for (const waitingRead of budget.waitingReads) {
    if (!hasRoom(budget, waitingRead.rows)) break
    budget.reservedRows += waitingRead.rows
    waitingRead.resume()
    resumedCount++
  }
  if (resumedCount > 0) budget.waitingReads.splice(0, resumedCount)
}

// No other limit counts __typename: clients request it once per object, and attackers request it under many names.
const aliasCounts = new WeakMap<SelectionSetNode, number>()

/** Returns the weight of one object of this field: 1, plus 1 for each alias of its __typename. */
function computeWeight({ fieldNodes, fragments }: GraphQLResolveInfo): number {
  const countAliases = (set: SelectionSetNode | undefined): number => {
    if (set === undefined) return 0
    const cachedCount = aliasCounts.get(set)
    if (cachedCount !== undefined) return cachedCount
    const aliasCount = set.selections.reduce((sum, node) => {
      if (node.kind === Kind.FIELD)
        return sum + Number(node.name.value === '__typename' && node.alias !== undefined)
      return (
        sum +
        countAliases((node.kind === Kind.INLINE_FRAGMENT ? node : fragments[node.name.value])?.selectionSet)
      )
    }, 0)
    aliasCounts.set(set, aliasCount)
    return aliasCount
  }
  return fieldNodes.reduce((sum, { selectionSet }) => sum + countAliases(selectionSet), 1)
}
