// Registers and unregisters backends for callbacks. A machine user has one registration per application.
// Registering again replaces its token and its signing secret.
import type { Machine } from '../../policy/authenticate.ts'
import type { Audit, AuditActor, AuditEvent } from '../../platform/audit/append.ts'
import { createEventBuilder } from '../../platform/audit/entity.ts'
import type { Db, Tx } from '../../platform/postgres/handles.ts'
import { AppError, forbidden, notFound } from '../../platform/errors.ts'
import { newId, parseUuid } from '../../platform/ids.ts'
import { checkFields } from '../../platform/inputs/fields.ts'
import { checkText } from '../../platform/inputs/inputs.ts'
import { validateCallbackUrl } from '../../platform/outbound/callback-url.ts'
import type { AddressRules } from '../../platform/outbound/egress.ts'
import { createWebhookSecret } from '../../platform/outbound/webhook-signature.ts'
import type { LockMasterKey } from '../../platform/secrets/master-key.ts'
import type { Secrets } from '../../platform/secrets/secrets.ts'
import { createFairShare } from '../../platform/throttle/fair-share.ts'
import * as store from './registrations.store.ts'
import { getSigningSecretLocation, getTokenLocation } from './sealed-secrets.pure.ts'

export type RegistrationsDeps = {
  db: Db
  audit: Audit
  secrets: Secrets
  lockMasterKey: LockMasterKey
  /** The networks to which callbacks may be sent. */
  rules: AddressRules
}
export type RegistrationsService = ReturnType<typeof createRegistrationsService>

/** The calling machine user and the actor for the audit trail. */
export type Caller = { machine: Machine; actor: AuditActor }
type Input = { applicationId: string; callbackUrl: string; version: string }
// Concurrent registrations of a machine user would all wait for its row lock, and each would hold a connection.
const concurrencyLimits = {
  capacity: 4,
  maxPerOwner: 1,
  maxWaiting: 200,
  maxWaitMs: 10_000,
  overloadMessage: 'too many concurrent registrations; try again',
}
type RegistrationResult = { id: string; token: string; signingSecret: string; isNew: boolean }

export const createApplicationNotFoundError = (): AppError =>
  new AppError('not_found', 'Application not found or does not belong to your project')
export const createRegistrationNotFoundError = (): AppError => notFound('Backend registration')
export const createRegistrationNotOwnedError = (): AppError =>
  forbidden('The backend registration belongs to another machine user')

/**
 * The audit trail contains only the origin of the URL, because the rest can contain a secret. It records the
 * replacement of the token, but never the token itself.
 */
type AuditedRegistration = Omit<store.Registration, 'callbackUrl'> & {
  callbackOrigin: string
  callbackToken?: string
}
const event = createEventBuilder<AuditedRegistration>({
  type: 'backendRegistration',
  classes: {
    id: 'public',
    projectId: 'ignored',
    applicationId: 'public',
    environmentId: 'public',
    machineUserId: 'public',
    callbackOrigin: 'public',
    callbackToken: 'secret',
    version: 'public',
  },
  nameOf: (row) => row.callbackOrigin,
  projectOf: (row) => row.projectId,
})
const toAuditedRegistration = (
  { callbackUrl, ...row }: store.Registration,
  callbackToken: string,
): AuditedRegistration => ({ ...row, callbackOrigin: new URL(callbackUrl).origin, callbackToken })

/**
 * Returns the audit events of a registration. A backend registers at every start, and frequent restarts must not flood
 * the audit trail. Therefore, only new registrations and changed callback URLs are recorded, not heartbeats or
 * removals of silent backends.
 */
function createEvents(before: store.Registration | undefined, after: store.Registration): AuditEvent[] {
  if (before === undefined)
    return [event('create', { before: null, after: toAuditedRegistration(after, 'new') })]
  if (before.callbackUrl === after.callbackUrl) return []
  const updateEvent = event('update', {
    before: toAuditedRegistration(before, 'old'),
    after: toAuditedRegistration(after, 'new'),
  })
  return [{ ...updateEvent, metadata: { callback_url_changed: true } }]
}

function checkCallbackUrl(text: string, rules: AddressRules): string {
  const validation = validateCallbackUrl(text, rules)
  if ('problem' in validation)
    throw new AppError('bad_request', 'Invalid callback_url', { hint: validation.problem })
  return validation.url.href
}

export function createRegistrationsService(deps: RegistrationsDeps) {
  const { db, audit, secrets, lockMasterKey } = deps

  const write = async (tx: Tx, { machine, actor }: Caller, input: Input): Promise<RegistrationResult> => {
    const before = await store.lockRegistrationByApplication(tx, input.applicationId, machine.id)
    // Registering again keeps the id, because the sealed secrets are bound to it.
    const id = before?.id ?? newId()
    const { projectId, environmentId, id: machineUserId } = machine
    const after = { id, projectId, environmentId, machineUserId, ...input }
    const [token, signingSecret] = [createWebhookSecret(), createWebhookSecret()]
    const sealedSecrets = {
      callbackToken: secrets.seal(token, getTokenLocation(id)),
      signingSecret: secrets.seal(signingSecret, getSigningSecretLocation(id)),
    }
    if (before === undefined) await store.insertRegistration(tx, { ...after, ...sealedSecrets })
    else {
      const { callbackUrl, version } = input
      await store.updateRegistration(tx, id, { callbackUrl, version, ...sealedSecrets })
    }
    await audit.append(tx, actor, ...createEvents(before, after))
    return { id, token, signingSecret, isNew: before === undefined }
  }

  const fairShare = createFairShare(concurrencyLimits)
  /** Runs a few transactions concurrently, but only one per machine user. */
  const runFairly = <T>({ projectId, id }: Machine, work: (tx: Tx) => Promise<T>): Promise<T> =>
    fairShare.run([projectId, id], () => db.transaction(work))

  return {
    /**
     * Registers a backend. Concurrent registrations each return their own secrets. Callbacks use the secrets
     * that were written last.
     */
    register: (caller: Caller, { applicationId, ...input }: Input): Promise<RegistrationResult> => {
      const { version, callback_url: callbackUrl } = checkFields({
        version: () => checkText(input.version, 'version', 100),
        callback_url: () => checkCallbackUrl(input.callbackUrl, deps.rules),
      })
      const { machine } = caller
      return runFairly(machine, async (tx) => {
        // The callback token outlives the request. Since authentication, the machine user may have been disabled or
        // deleted, or its token may have been rotated.
        if (!(await store.lockEnabledMachineUser(tx, machine)))
          throw new AppError('unauthenticated', 'Invalid token: it belongs to no enabled machine user')
        if (!(await store.lockApplication(tx, machine.projectId, applicationId)))
          throw createApplicationNotFoundError()
        await lockMasterKey(tx)
        return write(tx, caller, { applicationId, version, callbackUrl })
      })
    },

    /** Removes a registration. No callback starts after the commit. */
    unregister: ({ machine, actor }: Caller, text: string): Promise<void> => {
      const id = parseUuid(text)
      if (id === null) throw createRegistrationNotFoundError()
      return db.transaction(async (tx) => {
        const before = await store.lockRegistration(tx, id)
        if (before === undefined) throw createRegistrationNotFoundError()
        if (before.machineUserId !== machine.id) throw createRegistrationNotOwnedError()
        await store.deleteRegistration(tx, id)
        await audit.append(
          tx,
          actor,
          event('delete', { before: toAuditedRegistration(before, 'old'), after: null }),
        )
      })
    },
  }
}
