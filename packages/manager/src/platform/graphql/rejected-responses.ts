// Rejects a whole response while it is being built. graphql-js would create an error for every field that fails, which
// takes seconds for 100,000 fields. Instead, the first reason becomes the response, and pending fields never resolve:
// nothing refers to them anymore.
import { type GraphQLError, type GraphQLResolveInfo, locatedError } from 'graphql'
import type { AppError } from '../errors.ts'

type RejectedResponse = { data: null; errors: readonly GraphQLError[] }
type State = {
  isRejected: boolean
  response: Promise<RejectedResponse>
  resolve: (response: RejectedResponse) => void
}

// Every field reads the state. A property of the context is faster to read than a WeakMap.
const stateKey = Symbol('rejected response')
type Context = { [stateKey]?: State }

const getState = (context: Context): State => (context[stateKey] ??= createState())

function createState(): State {
  const { promise: response, resolve } = Promise.withResolvers<RejectedResponse>()
  return { isRejected: false, response, resolve }
}

/** Resolves with the error response if the request is rejected, otherwise never. */
export const waitForRejection = (context: object): Promise<RejectedResponse> => getState(context).response

/** Whether the response is rejected, so that no field needs to resolve anymore. */
export const isResponseRejected = (context: object): boolean => getState(context).isRejected

/** Rejects the response at a field. Returns a promise that never resolves; the field must return this promise. */
export function rejectResponse(
  context: object,
  reason: AppError,
  { fieldNodes, path }: GraphQLResolveInfo,
): Promise<never> {
  const state = getState(context)
  if (!state.isRejected) {
    state.isRejected = true
    state.resolve({ data: null, errors: [locatedError(reason, [...fieldNodes], listKeys(path))] })
  }
  return createPendingPromise()
}

/** Returns a new promise each time: a shared promise would keep everything that waits for it in memory. */
export const createPendingPromise = (): Promise<never> => new Promise<never>(() => undefined)

function listKeys(path: GraphQLResolveInfo['path']): (string | number)[] {
  const keys: (string | number)[] = []
  for (let segment: typeof path | undefined = path; segment !== undefined; segment = segment.prev)
    keys.unshift(segment.key)
  return keys
}
