// Rejects a whole response while it is being built. graphql-js would create an error for every field that fails, which
// takes seconds for 100,000 fields. Instead, the first reason becomes the response, and pending fields never resolve:
// nothing refers to them anymore.
import { type GraphQLError, type GraphQLResolveInfo, locatedError } from 'graphql'
import type { AppError } from '../errors.ts'

type Rejected = { data: null; errors: readonly GraphQLError[] }
type State = { isRejected: boolean; rejected: Promise<Rejected>; resolve: (rejected: Rejected) => void }

const states = new WeakMap<object, State>()

function stateOf(context: object): State {
  let state = states.get(context)
  if (state === undefined) {
    const { promise: rejected, resolve } = Promise.withResolvers<Rejected>()
    states.set(context, (state = { isRejected: false, rejected, resolve }))
  }
  return state
}

/** Resolves with the error response if the request is rejected, otherwise never. */
export const rejectedResponse = (context: object): Promise<Rejected> => stateOf(context).rejected

/** Whether the response is rejected, so that no field needs to resolve anymore. */
export const isResponseRejected = (context: object): boolean => stateOf(context).isRejected

/** Rejects the response at a field. The field returns this promise, which never resolves. */
export function rejectResponse(
  context: object,
  reason: AppError,
  { fieldNodes, path }: GraphQLResolveInfo,
): Promise<never> {
  const state = stateOf(context)
  if (!state.isRejected) {
    state.isRejected = true
    state.resolve({ data: null, errors: [locatedError(reason, [...fieldNodes], keysOf(path))] })
  }
  return unresolved()
}

/** Returns a new promise each time: a shared one would keep everything that waits for it in memory. */
export const unresolved = (): Promise<never> => new Promise<never>(() => undefined)

function keysOf(path: GraphQLResolveInfo['path']): (string | number)[] {
  const keys: (string | number)[] = []
  for (let at: typeof path | undefined = path; at !== undefined; at = at.prev) keys.unshift(at.key)
  return keys
}
