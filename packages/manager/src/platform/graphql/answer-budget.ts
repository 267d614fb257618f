// What one response may hold. How many objects a document asks for is bounded before it runs (limits.ts); how much they
// hold is charged here while it runs, so that many fields of one document cannot ask for more than a process can give.
import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  defaultFieldResolver,
  getNamedType,
  isLeafType,
  isObjectType,
} from 'graphql'
import { type AppError, badRequest } from '../errors.ts'
import { isAnswerRefused, refuseAnswer, unresolved } from './refused-answers.ts'

const maxBytes = 16 * 1_048_576
// What a value costs beside its text: quotes, and the work of showing it, which for true and 1 is all there is.
const bytesPerValue = 24
const shortLength = 64

/** Contents that may be large, charged before they are read; and all other values, charged as they are shown. */
type Kind = 'contents' | 'values'
type Spent = Record<Kind, number>
const spent = new WeakMap<object, Spent>()

export type Charge = (bytes: number) => void

/** Returns a function that throws once the contents requested in this request are too much for one response. */
export const answerBudget =
  (context: object): Charge =>
  (bytes) => {
    const problem = charge(context, 'contents', bytes)
    if (problem !== null) throw problem
  }

/** What is wrong once there are too many bytes of the kind; null until then. */
function charge(context: object, kind: Kind, bytes: number): AppError | null {
  let total = spent.get(context)
  if (total === undefined) spent.set(context, (total = { contents: 0, values: 0 }))
  total[kind] += bytes
  if (total[kind] <= maxBytes) return null
  return badRequest(
    `the ${kind} in this answer would have more than ${maxBytes} bytes; ask for smaller pages or fewer fields`,
  )
}

/** Whether a type or field is declared @large: its resolver has charged it before. */
export const isLarge = ({ astNode }: GraphQLNamedType | GraphQLField<unknown, unknown>): boolean =>
  astNode?.directives?.some(({ name }) => name.value === 'large') === true

/** Charges every value that is shown, in place. */
export function chargeFields(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__') || isLarge(type)) continue
    for (const field of Object.values(type.getFields()))
      if (isLeafType(getNamedType(field.type)) && !isLarge(field)) chargeField(field)
  }
}

function chargeField(field: GraphQLField<unknown, unknown>): void {
  const resolve = field.resolve ?? defaultFieldResolver
  field.resolve = (source, args, context, info) => {
    const value = resolve(source, args, context, info)
    if (value instanceof Promise) return value.then((shown) => chargeValue(context as object, info, shown))
    return chargeValue(context as object, info, value)
  }
}

function chargeValue(context: object, info: GraphQLResolveInfo, value: unknown): unknown {
  if (isAnswerRefused(context)) return unresolved()
  const problem = charge(context, 'values', bytesOf(value) + (info.path.key as string).length)
  return problem === null ? value : refuseAnswer(context, problem, info)
}

function bytesOf(value: unknown): number {
  // Most texts are short; for those, asking for their bytes takes longer than anything else about them.
  if (typeof value === 'string')
    return bytesPerValue + (value.length < shortLength ? value.length : Buffer.byteLength(value))
  return Array.isArray(value)
    ? value.reduce<number>((sum, one) => sum + bytesOf(one), bytesPerValue)
    : bytesPerValue
}
