// The guard checks the declared policy before every resolver, and rejects a schema in which a policy is missing.
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
import { badRequest, unavailable } from '../platform/errors.ts'
import { clearLoaders } from '../platform/graphql/loaders.ts'
import type { Actor } from './actor.ts'
import { type Policy, authorize } from './authorize.ts'
import type { Scopes } from './scopes.ts'

/** The context of every resolver. */
export type GraphqlContext = {
  actor: Actor
  /** Time at which the request times out, as a performance.now() value. */
  deadline: number
  /** True once a mutation of the document has started. */
  hasStartedMutation?: boolean
  /** Decisions so far: an object that appears many times in a response is authorized once. */
  decisions?: Map<Policy, Decisions>
}

/** A decision is true if the caller is permitted. During the check, it is a promise that rejects for other callers. */
type Decisions = Map<string, Promise<void> | true>

export type GuardedField = {
  type: string
  field: string
  policy: Policy
  /** Audit rows that a mutation appends, as `entity action`; null for other fields. */
  audited: readonly string[] | null
}

/**
 * Wraps the guarded fields of a schema in place. Throws an error that names every field without a policy, or every
 * mutation that does not declare its audit rows.
 */
export function guardSchema(schema: GraphQLSchema, scopes: Scopes): GuardedField[] {
  const [canDirective, auditedDirective] = [findDirective(schema, 'can'), findDirective(schema, 'audited')]
  const rootTypes = new Set([schema.getQueryType(), schema.getMutationType()])
  const guardedFields: GuardedField[] = []
  const [unguardedFields, unauditedFields]: [string[], string[]] = [[], []]
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue
    const isRoot = rootTypes.has(type)
    for (const field of Object.values(type.getFields())) {
      const policy = readPolicy(canDirective, field)
      const auditRows = readAudited(auditedDirective, field)
      const isMutation = type === schema.getMutationType()
      if (isMutation !== (auditRows !== null)) unauditedFields.push(`${type.name}.${field.name}`)
      if (policy === null) {
        if (isRoot || resolvesObject(field)) unguardedFields.push(`${type.name}.${field.name}`)
        continue
      }
      if (policy.in !== 'SYSTEM' && policy.on.length === 0)
        unguardedFields.push(`${type.name}.${field.name} (no "on")`)
      if (policy.in !== 'SYSTEM' && scopes[policy.in] === undefined)
        unguardedFields.push(`${type.name}.${field.name} (no feature defines the scope ${policy.in})`)
      guardedFields.push({ type: type.name, field: field.name, policy, audited: auditRows })
      wrapResolver(type, field, policy, isMutation)
    }
  }
  if (unguardedFields.length > 0)
    throw new Error(
      `GraphQL fields without a policy (@can): ${unguardedFields.join(', ')}; the service does not start`,
    )
  if (unauditedFields.length > 0)
    throw new Error(
      `every mutation, and no other field, must declare its audit rows (@audited): ${unauditedFields.join(', ')}; the service does not start`,
    )
  return guardedFields
}

function findDirective(schema: GraphQLSchema, name: string): GraphQLDirective {
  const directive = schema.getDirective(name)
  if (!(directive instanceof GraphQLDirective)) throw new Error(`the schema does not define @${name}`)
  return directive
}

function resolvesObject(field: GraphQLField<unknown, unknown>): boolean {
  return field.resolve !== undefined && isObjectType(getNamedType(field.type))
}

type Field = GraphQLField<unknown, unknown>

function readDirectiveValues(
  directive: GraphQLDirective,
  { astNode }: Field,
): Record<string, unknown> | null {
  return astNode === undefined || astNode === null ? null : (getDirectiveValues(directive, astNode) ?? null)
}

function readPolicy(directive: GraphQLDirective, field: Field): Policy | null {
  const values = readDirectiveValues(directive, field)
  if (values === null) return null
  const { on = [], ...policy } = values as Omit<Policy, 'on'> & { on?: string[] }
  return { ...policy, on }
}

const readAudited = (directive: GraphQLDirective, field: Field): string[] | null =>
  (readDirectiveValues(directive, field)?.['as'] ?? null) as string[] | null

function wrapResolver(
  type: GraphQLObjectType,
  field: GraphQLField<unknown, unknown>,
  policy: Policy,
  isMutation: boolean,
): void {
  const resolve = field.resolve ?? defaultFieldResolver
  const keyReaders = (policy.also === undefined ? [policy.on] : [policy.on, policy.also]).map((paths) =>
    paths.map(createReader),
  )
  // The resolver is not async: thousands of objects can share a few decisions, and a cached decision needs no promise.
  field.resolve = (source, args, context, info) => {
    const { actor, deadline = 0 } = context as Partial<GraphqlContext>
    // Without an actor, the request has not passed authentication, so no resolver may run.
    if (actor === undefined) throw new Error(`${type.name}.${field.name} was called without an actor`)
    if (performance.now() > deadline)
      throw unavailable('the request timed out; request less data, or try again')
    const keys = keyReaders.flatMap((readers) => combineKeys(readers.map((read) => read(source, args))))
    const proceed = (): unknown => resolve(source, args, context, info)
    if (isMutation)
      return startMutation(context as GraphqlContext)
        .then(() => authorizeAll(actor, policy, keys))
        .then(proceed)
    const decision = getCachedDecision(context as GraphqlContext, policy, keys)
    return decision === true ? proceed() : decision.then(proceed)
  }
}

type Keys = (string | null)[][]

async function authorizeAll(actor: Actor, policy: Policy, keys: Keys): Promise<void> {
  await Promise.all(keys.map((key) => authorize(actor, policy, key)))
}

function getCachedDecision(context: GraphqlContext, policy: Policy, keys: Keys): Promise<void> | true {
  context.decisions ??= new Map()
  let decisions = context.decisions.get(policy)
  if (decisions === undefined) context.decisions.set(policy, (decisions = new Map()))
  const name = JSON.stringify(keys)
  const knownDecision = decisions.get(name)
  if (knownDecision !== undefined) return knownDecision
  const decision = authorizeAll(context.actor, policy, keys).then(() => void decisions.set(name, true))
  decisions.set(name, decision)
  return decision
}

/** Mutations of one document run in series, and each must see the changes of the previous ones. */
async function startMutation(context: GraphqlContext): Promise<void> {
  if (context.hasStartedMutation === true) {
    clearLoaders(context)
    context.decisions?.clear()
    await context.actor.refresh()
  }
  context.hasStartedMutation = true
}

const maxListedObjects = 1_000

type KeyPart = string | null
type ReadKeyPart = (source: unknown, args: Record<string, unknown>) => KeyPart | KeyPart[]

/** Combines the key parts into one key. If the only part is a list, returns one key for each entry, or a null key. */
function combineKeys(parts: (KeyPart | KeyPart[])[]): KeyPart[][] {
  const [first] = parts
  if (parts.length === 1 && Array.isArray(first)) {
    if (first.length > maxListedObjects)
      throw badRequest(`a list of objects to change can have at most ${maxListedObjects} entries`)
    return first.length === 0 ? [[null]] : [...new Set(first)].map((part) => [part])
  }
  return [parts.map((part) => (Array.isArray(part) ? null : part))]
}

const toKeyPart = (value: unknown): KeyPart => (typeof value === 'string' ? value : null)
const step = (value: unknown, name: string): unknown =>
  (value as Record<string, unknown> | null | undefined)?.[name]

/**
 * The path `parent.x` reads the parent object; any other path reads the arguments. `list.x` reads `x` of every entry.
 */
function createReader(path: string): ReadKeyPart {
  const [head = '', ...rest] = path.split('.')
  const parts = head === 'parent' ? rest : [head, ...rest]
  return (source, args) => {
    let value: unknown = head === 'parent' ? source : args
    for (const part of parts)
      value = Array.isArray(value) ? value.map((entry) => step(entry, part)) : step(value, part)
    return Array.isArray(value) ? value.map(toKeyPart) : toKeyPart(value)
  }
}
