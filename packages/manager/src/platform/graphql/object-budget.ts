// How many objects one response may contain. They are counted while they are produced: the page sizes of a document say
// little about how many rows there are. Room for a page is reserved before the page is read, so that the rows of one
// request in memory stay bounded however many lists it requests together.
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
import { isLarge } from './answer-budget.ts'
import { isAnswerRefused, refuseAnswer, unresolved } from './refused-answers.ts'
import type { Turn } from './turns.ts'
import { nextTurn } from './yielding.ts'

export const maxObjects = 100_000
/** The page size of lists that are given none, and the largest one. */
const fullPage = 100
// A response with more objects is large: one person's are built one after the other, because of their memory.
const largeAt = 5_000
// Rows of one request that are being read. Near the end of the budget, pages are still read a hundred at a time: one
// statement for each would take too long.
const [mostRoom, leastRoom] = [250 * fullPage, 100 * fullPage]

type Waiting = { rows: number; resume: () => void }
type Budget = {
  max: number
  produced: number
  /** Rows of the pages that are being read, at most. */
  reserved: number
  waiting: Waiting[]
}
/** Part of what resolvers receive. */
type Context = {
  turn?: Pick<Turn, 'pace' | 'enterLarge'>
  /** Whether nobody waits for the response any more. */
  isLeft?: () => boolean
}

const budgets = new WeakMap<object, Budget>()

function budgetOf(context: Context, max: number): Budget {
  let budget = budgets.get(context)
  if (budget === undefined) budgets.set(context, (budget = { max, produced: 0, reserved: 0, waiting: [] }))
  return budget
}

/** Counts every object that a field leads to, in place; a response with more than `max` of them is refused. */
export function countObjects(schema: GraphQLSchema, max = maxObjects): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue
    for (const field of Object.values(type.getFields()))
      if (isObjectType(getNamedType(field.type))) countField(field, max)
  }
}

function countField(field: GraphQLField<unknown, unknown>, max: number): void {
  const { resolve = defaultFieldResolver } = field
  // The bytes of large contents are charged instead (answer-budget.ts).
  const isCharged = isLarge(getNamedType(field.type))
  // Without a resolver the rows are part of the parent, which is in memory already.
  const readsPage = !isCharged && field.resolve !== undefined && isListType(getNullableType(field.type))
  field.resolve = (source, args, given, info) => {
    const context = given as Context
    const budget = budgetOf(context, max)
    const rows = readsPage ? pageSizeOf(args) : 0
    const produce = (value: unknown): unknown => {
      release(budget, rows)
      const objects = Array.isArray(value) ? value.length : Number(value !== null && value !== undefined)
      if (!isCharged) budget.produced += objects * weightOf(info)
      const problem = problemOf(budget, context, info)
      if (problem !== null) return refuseAnswer(context, problem, info)
      const turn = objects === 0 ? null : turnFor(budget, context, objects)
      return turn === null ? value : turn.then(() => (isAnswerRefused(context) ? unresolved() : value))
    }
    const fail = (error: unknown): never => {
      release(budget, rows)
      throw error
    }
    const read = (): unknown => {
      if (isAnswerRefused(context)) return unresolved()
      let value: unknown
      try {
        value = resolve(source, args, context, info)
      } catch (error) {
        return fail(error)
      }
      return value instanceof Promise ? value.then(produce, fail) : produce(value)
    }
    const room = reserve(budget, rows)
    return room === null ? read() : room.then(read)
  }
}

/** Null when the objects may be shown at once; else a promise for when they may. */
function turnFor(budget: Budget, { turn }: Context, objects: number): Promise<unknown> | null {
  const take = (): Promise<void> | null => nextTurn(turn?.pace ?? budget, objects)
  const entered = budget.produced > largeAt ? (turn?.enterLarge() ?? null) : null
  return entered === null ? take() : entered.then(take)
}

/** Why the answer ends here; null when it goes on. */
function problemOf(
  { produced, max }: Budget,
  { isLeft }: Context,
  { operation }: GraphQLResolveInfo,
): AppError | null {
  if (produced > max)
    return badRequest(
      `this answer would have more than ${max} objects; ask for smaller pages or fewer levels`,
    )
  // A query that nobody waits for is not worth finishing. Mutations run to their end.
  const isAbandoned = operation.operation === OperationTypeNode.QUERY && isLeft?.() === true
  return isAbandoned ? unavailable('the caller has left') : null
}

/** The page size that the list is given, if the list will accept it. */
export function pageSizeOf(args: {
  pagination?: { limit?: unknown } | null
  limit?: unknown
  first?: unknown
}): number {
  const size = args.pagination?.limit ?? args.limit ?? args.first
  return typeof size === 'number' && size >= 1 && size <= fullPage ? size : fullPage
}

const hasRoom = ({ max, produced, reserved }: Budget, rows: number): boolean =>
  reserved === 0 || reserved + rows <= Math.min(mostRoom, Math.max(max - produced, leastRoom))

/** Null when there is room for so many rows; else a promise for it. */
function reserve(budget: Budget, rows: number): Promise<void> | null {
  if (rows > 0 && !hasRoom(budget, rows))
    return new Promise((resume) => budget.waiting.push({ rows, resume }))
  budget.reserved += rows
  return null
}

function release(budget: Budget, rows: number): void {
  budget.reserved -= rows
  let resumed = 0
  for (const next of budget.waiting) {
    if (!hasRoom(budget, next.rows)) break
    budget.reserved += next.rows
    next.resume()
    resumed++
  }
  if (resumed > 0) budget.waiting.splice(0, resumed)
}

// Nothing else charges __typename: clients request it once per object, attackers under many names.
const typeNames = new WeakMap<SelectionSetNode, number>()

/** What one object of this field counts: 1, and as many as there are other names for its __typename. */
function weightOf({ fieldNodes, fragments }: GraphQLResolveInfo): number {
  const otherNames = (set: SelectionSetNode | undefined): number => {
    if (set === undefined) return 0
    const known = typeNames.get(set)
    if (known !== undefined) return known
    const names = set.selections.reduce((sum, node) => {
      if (node.kind === Kind.FIELD)
        return sum + Number(node.name.value === '__typename' && node.alias !== undefined)
      return (
        sum +
        otherNames((node.kind === Kind.INLINE_FRAGMENT ? node : fragments[node.name.value])?.selectionSet)
      )
    }, 0)
    typeNames.set(set, names)
    return names
  }
  return fieldNodes.reduce((sum, { selectionSet }) => sum + otherNames(selectionSet), 1)
}
