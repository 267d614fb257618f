// Puts the declared policy in front of every resolver, and refuses a schema that leaves one out.
import {
  type GraphQLField,
  GraphQLDirective,
  type GraphQLObjectType,
  type GraphQLSchema,
  defaultFieldResolver,
  getDirectiveValues,
  getNamedType,
  isObjectType,
} from 'graphql'
import { unavailable } from '../platform/errors.ts'
import { clearLoaders } from '../platform/graphql/loaders.ts'
import type { Actor } from './actor.ts'
import { type Policy, authorize } from './authorize.ts'
import type { Scopes } from './scopes.ts'

/** What every resolver receives. */
export type GraphqlContext = {
  actor: Actor
  /** When the request times out, by performance.now(). */
  deadline: number
  /** True once a mutation of the document has begun. */
  hasMutated?: boolean
  /** What was judged so far: a thing that appears many times in a response is judged once. */
  judged?: Map<Policy, Judged>
}

/** True for what is permitted; a promise while that is not known yet, and for what is not permitted. */
type Judged = Map<string, Promise<void> | true>

export type GuardedField = {
  type: string
  field: string
  policy: Policy
  /** What a mutation appends to the audit trail, as `entity action`; null for what is no mutation. */
  audited: readonly string[] | null
}

/**
 * Wraps the guarded fields of a schema in place; throws one error that names every field without a policy, and every
 * mutation that does not say what it appends to the audit trail.
 */
export function guardSchema(schema: GraphQLSchema, scopes: Scopes): GuardedField[] {
  const [can, audits] = [directiveOf(schema, 'can'), directiveOf(schema, 'audited')]
  const roots = new Set([schema.getQueryType(), schema.getMutationType()])
  const guarded: GuardedField[] = []
  const [offenders, unaudited]: [string[], string[]] = [[], []]
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue
    const isRoot = roots.has(type)
    for (const field of Object.values(type.getFields())) {
      const policy = readPolicy(can, field)
      const audited = readAudited(audits, field)
      const isMutation = type === schema.getMutationType()
      if (isMutation !== (audited !== null)) unaudited.push(`${type.name}.${field.name}`)
      if (policy === null) {
        if (isRoot || leadsElsewhere(field)) offenders.push(`${type.name}.${field.name}`)
        continue
      }
      if (policy.in !== 'SYSTEM' && policy.on.length === 0)
        offenders.push(`${type.name}.${field.name} (no "on")`)
      if (policy.in !== 'SYSTEM' && scopes[policy.in] === undefined)
        offenders.push(`${type.name}.${field.name} (no feature finds ${policy.in})`)
      guarded.push({ type: type.name, field: field.name, policy, audited })
      wrap(type, field, policy, isMutation)
    }
  }
  if (offenders.length > 0)
    throw new Error(
      `GraphQL fields without a policy (@can): ${offenders.join(', ')}; the service does not start`,
    )
  if (unaudited.length > 0)
    throw new Error(
      `mutations say what they append to the audit trail (@audited), and nothing else does: ${unaudited.join(', ')}; the service does not start`,
    )
  return guarded
}

function directiveOf(schema: GraphQLSchema, name: string): GraphQLDirective {
  const directive = schema.getDirective(name)
  if (!(directive instanceof GraphQLDirective)) throw new Error(`the schema does not define @${name}`)
  return directive
}

function leadsElsewhere(field: GraphQLField<unknown, unknown>): boolean {
  return field.resolve !== undefined && isObjectType(getNamedType(field.type))
}

type Field = GraphQLField<unknown, unknown>

function valuesOf(directive: GraphQLDirective, { astNode }: Field): Record<string, unknown> | null {
  return astNode === undefined || astNode === null ? null : (getDirectiveValues(directive, astNode) ?? null)
}

function readPolicy(directive: GraphQLDirective, field: Field): Policy | null {
  const values = valuesOf(directive, field)
  if (values === null) return null
  const { on = [], ...policy } = values as Omit<Policy, 'on'> & { on?: string[] }
  return { ...policy, on }
}

const readAudited = (directive: GraphQLDirective, field: Field): string[] | null =>
  (valuesOf(directive, field)?.['as'] ?? null) as string[] | null

function wrap(
  type: GraphQLObjectType,
  field: GraphQLField<unknown, unknown>,
  policy: Policy,
  isMutation: boolean,
): void {
  const resolve = field.resolve ?? defaultFieldResolver
  const named = (policy.also === undefined ? [policy.on] : [policy.on, policy.also]).map((paths) =>
    paths.map(readerOf),
  )
  // Not an async function: of thousands of objects that lead to the same few, only those few are waited for.
  field.resolve = (source, args, context, info) => {
    const { actor, deadline = 0 } = context as Partial<GraphqlContext>
    // Without an actor the request did not pass authentication; nothing may run.
    if (actor === undefined) throw new Error(`${type.name}.${field.name} was called without an actor`)
    if (performance.now() > deadline)
      throw unavailable('the request took too long; ask for less, or try again')
    const keys = named.map((readers) => readers.map((read) => read(source, args)))
    const proceed = (): unknown => resolve(source, args, context, info)
    if (isMutation)
      return startMutation(context as GraphqlContext)
        .then(() => judge(actor, policy, keys))
        .then(proceed)
    const verdict = verdictOn(context as GraphqlContext, policy, keys)
    return verdict === true ? proceed() : verdict.then(proceed)
  }
}

type Keys = (string | null)[][]

async function judge(actor: Actor, policy: Policy, keys: Keys): Promise<void> {
  for (const key of keys) await authorize(actor, policy, key)
}

function verdictOn(context: GraphqlContext, policy: Policy, keys: Keys): Promise<void> | true {
  context.judged ??= new Map()
  let judged = context.judged.get(policy)
  if (judged === undefined) context.judged.set(policy, (judged = new Map()))
  const name = JSON.stringify(keys)
  const known = judged.get(name)
  if (known !== undefined) return known
  const verdict = judge(context.actor, policy, keys).then(() => void judged.set(name, true))
  judged.set(name, verdict)
  return verdict
}

/** Mutations of one document run one after the other; what the first one changed, the next one must see. */
async function startMutation(context: GraphqlContext): Promise<void> {
  if (context.hasMutated === true) {
    clearLoaders(context)
    context.judged?.clear()
    await context.actor.refresh()
  }
  context.hasMutated = true
}

/** `parent.x` reads the parent object, any other path the arguments. */
function readerOf(path: string): (source: unknown, args: Record<string, unknown>) => string | null {
  const [head = '', ...rest] = path.split('.')
  const parts = head === 'parent' ? rest : [head, ...rest]
  return (source, args) => {
    let value: unknown = head === 'parent' ? source : args
    for (const part of parts) value = (value as Record<string, unknown> | null | undefined)?.[part]
    return typeof value === 'string' ? value : null
  }
}
