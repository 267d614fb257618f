// Limits the size of one response. The number of objects is limited elsewhere (object-budget.ts); their size is charged
// here during execution, so that many fields of one document cannot exceed the memory of a process.
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
import { isResponseRejected, rejectResponse, createPendingPromise } from './rejected-responses.ts'

const maxBytes = 16 * 1_048_576
// Cost of a value in addition to its text: quotes and serialization, which are the whole cost of true or 1.
const bytesPerValue = 24
const maxShortLength = 64

/**
 * The `contents` can be large, so they are charged before they are read; `values` are all other values, which are
 * charged when they are resolved.
 */
type Kind = 'contents' | 'values'
type ChargedBytes = Record<Kind, number>
// Every field reads this value. A property of the context is faster to read than a WeakMap.
const chargedKey = Symbol('charged bytes')
type Context = { [chargedKey]?: ChargedBytes }

/** Charges bytes to a response; throws 400 once its budget is exceeded. */
export type Charge = (bytes: number) => void

/** Returns a function that throws once the large values of this request exceed the response budget. */
export const createContentCharge =
  (context: object): Charge =>
  (bytes) => {
    const problem = charge(context, 'contents', bytes)
    if (problem !== null) throw problem
  }

/** Returns an error once the bytes of this kind exceed the limit; null until then. */
function charge(context: Context, kind: Kind, bytes: number): AppError | null {
  const total = (context[chargedKey] ??= { contents: 0, values: 0 })
  total[kind] += bytes
  if (total[kind] <= maxBytes) return null
  return badRequest(
    `the ${kind} of this response would exceed ${maxBytes} bytes; request smaller pages or fewer fields`,
  )
}

/** Whether a type or field is declared @large. Resolvers of large values charge the bytes themselves. */
export const isLarge = ({ astNode }: GraphQLNamedType | GraphQLField<unknown, unknown>): boolean =>
  astNode?.directives?.some(({ name }) => name.value === 'large') === true

/** Wraps the resolvers in place, so that every returned leaf value is charged. */
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
    if (value instanceof Promise)
      return value.then((resolvedValue) => chargeValue(context as object, info, resolvedValue))
    return chargeValue(context as object, info, value)
  }
}

function chargeValue(context: object, info: GraphQLResolveInfo, value: unknown): unknown {
  if (isResponseRejected(context)) return createPendingPromise()
  const problem = charge(context, 'values', estimateBytes(value) + (info.path.key as string).length)
  return problem === null ? value : rejectResponse(context, problem, info)
}

function estimateBytes(value: unknown): number {
  // Most strings are short, and computing their byte length would be most of the cost.
  if (typeof value === 'string')
    return bytesPerValue + (value.length < maxShortLength ? value.length : Buffer.byteLength(value))
  return Array.isArray(value)
    ? value.reduce<number>((sum, element) => sum + estimateBytes(element), bytesPerValue)
    : bytesPerValue
}
