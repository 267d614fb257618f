import type { Actor } from '../../policy/actor.ts'
import { type ExpectedRevision, checkRevision } from '../../policy/revisions.ts'
import type { Audit } from '../../platform/audit/append.ts'
import { createEventBuilder } from '../../platform/audit/entity.ts'
import { abbreviate } from '../../platform/audit/abbreviate.ts'
import type { Db, Tx } from '../../platform/postgres/handles.ts'
import { badRequest, conflict, orNotFound } from '../../platform/errors.ts'
import { newId, parseUuid } from '../../platform/ids.ts'
import { type ListArgs, readPage } from '../../platform/lists/filters.ts'
import type { LockMasterKey } from '../../platform/secrets/master-key.ts'
import type { Secrets } from '../../platform/secrets/secrets.ts'
import { checkInput } from '../../platform/inputs/fields.ts'
import { selectChanges, checkName, checkText } from '../../platform/inputs/inputs.ts'
import {
  findConsumeUrlProblem,
  findSecretProblem,
  findUrlProblem,
  findUsernameProblem,
} from './endpoint-rules.pure.ts'
import * as store from './endpoints.store.ts'
import type { TransformationsApi } from '../transformations/index.ts'

export type EndpointsDeps = {
  db: Db
  audit: Audit
  secrets: Secrets
  lockMasterKey: LockMasterKey
  transformations: Pick<TransformationsApi, 'findProblem'>
  /**
   * Returns the number of logged calls of an endpoint as text, or null if it has none. Logged calls prevent
   * deletion.
   */
  countLoggedCalls: (tx: Tx, endpointId: string) => Promise<string | null>
}
export type EndpointsService = ReturnType<typeof createEndpointsService>

type Nullable<T> = { readonly [Field in keyof T]?: T[Field] | null }
export type EndpointInput = Nullable<Omit<store.EndpointValues, 'consumeUrl'>> & {
  readonly consumeURL?: string | null
  readonly authPassword?: string | null
  readonly authToken?: string | null
}

type Changes = EndpointInput & { readonly expectedRevision?: ExpectedRevision }

/** An audit row shows that a secret was replaced or cleared, but never the secret itself. */
type AuditedEndpoint = store.CompleteEndpoint & { authPassword?: string; authToken?: string }
const entityEvent = createEventBuilder<AuditedEndpoint>({
  type: 'endpoint',
  classes: {
    id: 'public',
    projectId: 'ignored',
    applicationId: 'public',
    name: 'public',
    description: 'public',
    enabled: 'public',
    consumeUrl: 'public',
    url: 'public',
    authType: 'public',
    authUsername: 'public',
    authPassword: 'secret',
    authToken: 'secret',
    inputMessageType: 'public',
    outputMessageType: 'public',
    transformationTemplate: 'public',
    logLevel: 'public',
    createdAt: 'ignored',
  },
  nameOf: (endpoint) => endpoint.name,
  projectOf: (endpoint) => endpoint.projectId,
})

/** Shortens a long template to its start and its digest. */
const abbreviateRow = (row: AuditedEndpoint | null): AuditedEndpoint | null =>
  row && { ...row, transformationTemplate: abbreviate(row.transformationTemplate) }
const createEndpointEvent: typeof entityEvent = (action, { before, after }) =>
  entityEvent(action, { before: abbreviateRow(before), after: abbreviateRow(after) })

export function createEndpointsService(deps: EndpointsDeps) {
  const { db, audit, transformations } = deps
  return {
    list: (applicationIds: readonly string[], args: ListArgs): Promise<store.Endpoint[]> =>
      store.listEndpoints(db.read, applicationIds, readPage(store.endpointFields, args)),

    findMany: (ids: readonly string[]): Promise<store.Endpoint[]> => store.findEndpoints(db.read, ids),

    findTemplates: (ids: readonly string[]) => orderByIds(ids, store.findTemplates(db.read, ids), ''),

    findTemplateBytes: (ids: readonly string[]) => orderByIds(ids, store.findTemplateBytes(db.read, ids), 0),

    get: async (applicationId: string, id: string): Promise<store.Endpoint> => {
      const parsedId = parseUuid(id)
      const row = parsedId === null ? null : await store.findEndpoint(db.read, applicationId, parsedId)
      return orNotFound(row, 'endpoint')
    },

    create: (actor: Actor, applicationId: string, input: EndpointInput): Promise<store.Endpoint> => {
      const values = checkValues(transformations, input)
      const id = newId()
      return db.transaction(async (tx) => {
        const secrets = await sealSecrets(tx, deps, id, input)
        const insertedRow = await store.insertEndpoint(tx, { id, applicationId, ...values, ...secrets })
        const after = orNotFound(insertedRow, 'application')
        const auditedRow = { ...after, ...createPlaceholders(secrets, 'new') }
        await audit.append(tx, actor, createEndpointEvent('create', { before: null, after: auditedRow }))
        return after
      })
    },

    update: (actor: Actor, id: string, { expectedRevision, ...input }: Changes): Promise<store.Endpoint> =>
      db.transaction(async (tx) => {
        const before = orNotFound(await store.lockEndpoint(tx, id), 'endpoint')
        await checkRevision(tx, actor, before, expectedRevision)
        const currentInput = { ...before, consumeURL: before.consumeUrl }
        const newInput = { ...currentInput, ...selectChanges(input, nullableFields) }
        const values = checkValues(transformations, newInput, before)
        const secrets = await sealSecrets(tx, deps, id, input)
        const after = await store.updateEndpoint(tx, id, { ...values, ...secrets })
        const changes = {
          before: { ...before, ...createPlaceholders(secrets, 'old') },
          after: { ...after, ...createPlaceholders(secrets, 'new') },
        }
        await audit.append(tx, actor, createEndpointEvent('update', changes))
        return after
      }),

    delete: (actor: Actor, id: string, expectedRevision: ExpectedRevision): Promise<true> =>
      db.transaction(async (tx) => {
        const before = orNotFound(await store.lockEndpoint(tx, id), 'endpoint')
        await checkRevision(tx, actor, before, expectedRevision)
        const callCountText = await deps.countLoggedCalls(tx, id)
        if (callCountText !== null)
          throw conflict(
            `the endpoint has served ${callCountText} and cannot be deleted; disable it instead (updateEndpoint with enabled: false)`,
          )
        await store.deleteEndpoint(tx, id)
        await audit.append(tx, actor, createEndpointEvent('delete', { before, after: null }))
        return true as const
      }),
  }
}

/** Returns the values in the order of the ids, and `fallback` for an endpoint that no longer exists. */
async function orderByIds<Value>(
  ids: readonly string[],
  pendingValues: Promise<Map<string, Value>>,
  fallback: Value,
): Promise<Value[]> {
  const valuesById = await pendingValues
  return ids.map((id) => valuesById.get(id) ?? fallback)
}

const nullableFields = ['url', 'inputMessageType', 'outputMessageType', 'transformationTemplate'] as const

/** Validates the input and adds defaults for missing fields. */
function checkValues(
  transformations: Pick<TransformationsApi, 'findProblem'>,
  input: EndpointInput,
  stored: { transformationTemplate: string } = { transformationTemplate: '' },
): store.EndpointValues {
  const template = input.transformationTemplate ?? ''
  // An unchanged template is not validated again: it may be older than a validation rule, and it keeps working.
  const findTemplateProblem = (text: string): string | null =>
    text === stored.transformationTemplate ? null : transformations.findProblem(text)
  const { consumeURL: consumeUrl, ...checkedInput } = checkInput({
    consumeURL: () => checkRule(input.consumeURL ?? '', findConsumeUrlProblem),
    url: () => ((input.url ?? '') === '' ? null : checkRule(input.url as string, findUrlProblem)),
    authUsername: () => checkRule(input.authUsername ?? '', findUsernameProblem),
    transformationTemplate: () => checkRule(template, findTemplateProblem),
    name: () => checkName(input.name ?? ''),
    description: () => checkText(input.description ?? '', 'description', 2_000),
    authPassword: () => checkSecret(input, 'authPassword'),
    authToken: () => checkSecret(input, 'authToken'),
  })
  const { authPassword: _authPassword, authToken: _authToken, ...values } = checkedInput
  return {
    ...values,
    consumeUrl,
    enabled: input.enabled ?? true,
    authType: input.authType ?? 'None',
    inputMessageType: input.inputMessageType ?? null,
    outputMessageType: input.outputMessageType ?? null,
    logLevel: input.logLevel ?? 'BASIC',
  }
}

function checkRule(text: string, findProblem: (text: string) => string | null): string {
  const problem = findProblem(text)
  if (problem !== null) throw badRequest(problem)
  return text
}

const checkSecret = (input: EndpointInput, field: 'authPassword' | 'authToken'): string =>
  checkRule(input[field] ?? '', (text) => findSecretProblem(text, field))

/** Seals the secrets in the input. A null or absent field keeps the secret, and an empty string clears it. */
async function sealSecrets(
  tx: Tx,
  { secrets, lockMasterKey }: Pick<EndpointsDeps, 'secrets' | 'lockMasterKey'>,
  id: string,
  input: Pick<EndpointInput, 'authPassword' | 'authToken'>,
): Promise<store.SealedSecrets> {
  const sealedSecrets: store.SealedSecrets = {}
  for (const [field, column] of [
    ['authPassword', 'auth_password'],
    ['authToken', 'auth_token'],
  ] as const) {
    const text = input[field]
    if (text === null || text === undefined) continue
    sealedSecrets[field] = text === '' ? null : secrets.seal(text, { table: 'endpoints', column, id })
  }
  if (Object.keys(sealedSecrets).length > 0) await lockMasterKey(tx)
  return sealedSecrets
}

/** Returns placeholders for changed secrets, so that the audit row shows the change. */
function createPlaceholders(
  secrets: store.SealedSecrets,
  side: 'old' | 'new',
): { authPassword?: string; authToken?: string } {
  return Object.fromEntries(
    Object.entries(secrets).map(([field, value]) => [field, value === null && side === 'new' ? null : side]),
  )
}
