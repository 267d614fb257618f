// How an answer is refused as a whole while it is being built. graphql would make an error of every field that fails, which
// takes seconds for a hundred thousand of them. So the first reason is the answer, and fields that are still under way
// never resolve: nothing refers to them any more.
import { type GraphQLError, type GraphQLResolveInfo, locatedError } from 'graphql'
import type { AppError } from '../errors.ts'

type Refused = { data: null; errors: readonly GraphQLError[] }
type State = { isRefused: boolean; refused: Promise<Refused>; resolve: (refused: Refused) => void }

const states = new WeakMap<object, State>()

function stateOf(context: object): State {
  let state = states.get(context)
  if (state === undefined) {
    const { promise: refused, resolve } = Promise.withResolvers<Refused>()
    states.set(context, (state = { isRefused: false, refused, resolve }))
  }
  return state
}

/** Resolves with the answer of a request that is refused, and otherwise never. */
export const refusedAnswer = (context: object): Promise<Refused> => stateOf(context).refused

/** Whether the answer is refused: no field needs to resolve any more. */
export const isAnswerRefused = (context: object): boolean => stateOf(context).isRefused

/** Refuses the answer at a field; the field returns the result, as do all that meet the refusal afterwards. */
export function refuseAnswer(
  context: object,
  reason: AppError,
  { fieldNodes, path }: GraphQLResolveInfo,
): Promise<never> {
  const state = stateOf(context)
  if (!state.isRefused) {
    state.isRefused = true
    state.resolve({ data: null, errors: [locatedError(reason, [...fieldNodes], keysOf(path))] })
  }
  return unresolved()
}

/** A new promise each time: one for all would keep what waits for it. */
export const unresolved = (): Promise<never> => new Promise<never>(() => undefined)

function keysOf(path: GraphQLResolveInfo['path']): (string | number)[] {
  const keys: (string | number)[] = []
  for (let at: typeof path | undefined = path; at !== undefined; at = at.prev) keys.unshift(at.key)
  return keys
}
