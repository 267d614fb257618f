// Registering a backend for callbacks, and unregistering it. A registration is of one machine user for one application;
// registering again replaces its token and its signing secret.
import type { Machine } from '../../policy/authenticate.ts'
import type { Audit, AuditActor, AuditEvent } from '../../platform/audit/append.ts'
import { auditedEntity } from '../../platform/audit/entity.ts'
import type { Db, Tx } from '../../platform/postgres/handles.ts'
import { AppError, forbidden, notFound } from '../../platform/errors.ts'
import { newId, parseUuid } from '../../platform/ids.ts'
import { checkText } from '../../platform/inputs/inputs.ts'
import { judgeCallbackUrl } from '../../platform/outbound/callback-url.ts'
import type { AddressRules } from '../../platform/outbound/egress.ts'
import { createWebhookSecret } from '../../platform/outbound/webhook-signature.ts'
import type { LockMasterKey } from '../../platform/secrets/master-key.ts'
import type { Secrets } from '../../platform/secrets/secrets.ts'
import { createFairShare } from '../../platform/throttle/fair-share.ts'
import * as store from './registrations.store.ts'
import { signingSecretPlace, tokenPlace } from './token-place.pure.ts'

export type RegistrationsDeps = {
  db: Db
  audit: Audit
  secrets: Secrets
  lockMasterKey: LockMasterKey
  /** Where callbacks may go. */
  rules: AddressRules
}
export type RegistrationsService = ReturnType<typeof createRegistrationsService>

/** The machine user that calls, and what the audit trail says of the call. */
export type Caller = { machine: Machine; actor: AuditActor }
type Input = { applicationId: string; callbackUrl: string; version: string }
// Those of one machine user would wait for its row, each with a connection.
const turnLimits = {
  capacity: 4,
  maxEach: 1,
  maxWaiting: 200,
  maxWaitMs: 10_000,
  full: 'too many registrations at once; try again',
}
type Registered = { id: string; token: string; signingSecret: string; isNew: boolean }

export const applicationNotFound = (): AppError =>
  new AppError('not_found', 'Application not found or does not belong to your project')
export const registrationNotFound = (): AppError => notFound('Backend registration')
export const registrationOfAnother = (): AppError =>
  forbidden('The backend registration belongs to another machine user')

/**
 * Of the URL only its origin, since callers may put a secret anywhere behind it. The token is replaced, never shown.
 */
type AuditedRegistration = Omit<store.Registration, 'callbackUrl'> & {
  callbackOrigin: string
  callbackToken?: string
}
const event = auditedEntity<AuditedRegistration>({
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
const audited = (
  { callbackUrl, ...row }: store.Registration,
  callbackToken: string,
): AuditedRegistration => ({ ...row, callbackOrigin: new URL(callbackUrl).origin, callbackToken })

/**
 * What the trail says of a registration. A backend registers whenever it starts, and one that starts often must not fill
 * the trail with rows that tell nothing: so there is a row for a new registration and for one that sends callbacks
 * elsewhere, and none for any other, for heartbeats, or for the removal of those who are silent.
 */
function eventsOf(before: store.Registration | undefined, after: store.Registration): AuditEvent[] {
  if (before === undefined) return [event('create', { before: null, after: audited(after, 'new') })]
  if (before.callbackUrl === after.callbackUrl) return []
  const changed = event('update', { before: audited(before, 'old'), after: audited(after, 'new') })
  return [{ ...changed, metadata: { callback_url_changed: true } }]
}

/** Rules about registrations. */
export function createRegistrationsService(deps: RegistrationsDeps) {
  const { db, audit, secrets, lockMasterKey } = deps

  const write = async (tx: Tx, { machine, actor }: Caller, input: Input): Promise<Registered> => {
    const before = await store.lockRegistrationOf(tx, input.applicationId, machine.id)
    // Registering again keeps the id, which the sealed secrets are bound to.
    const id = before?.id ?? newId()
    const { projectId, environmentId, id: machineUserId } = machine
    const after = { id, projectId, environmentId, machineUserId, ...input }
    const [token, signingSecret] = [createWebhookSecret(), createWebhookSecret()]
    const sealed = {
      callbackToken: secrets.seal(token, tokenPlace(id)),
      signingSecret: secrets.seal(signingSecret, signingSecretPlace(id)),
    }
    if (before === undefined) await store.insertRegistration(tx, { ...after, ...sealed })
    else {
      const { callbackUrl, version } = input
      await store.updateRegistration(tx, id, { callbackUrl, version, ...sealed })
    }
    await audit.append(tx, actor, ...eventsOf(before, after))
    return { id, token, signingSecret, isNew: before === undefined }
  }

  const turns = createFairShare(turnLimits)
  /** A few transactions at a time, and one of a machine user. */
  const inTurn = <T>({ projectId, id }: Machine, work: (tx: Tx) => Promise<T>): Promise<T> =>
    turns.run([projectId, id], () => db.transaction(work))

  return {
    /** Concurrent registrations each return their own secrets; callbacks use those that were written last. */
    register: (caller: Caller, { applicationId, ...input }: Input): Promise<Registered> => {
      const version = checkText(input.version, 'version', 100)
      const judged = judgeCallbackUrl(input.callbackUrl, deps.rules)
      if ('problem' in judged)
        throw new AppError('bad_request', 'Invalid callback_url', { hint: judged.problem })
      const { machine } = caller
      return inTurn(machine, async (tx) => {
        // The callback token outlives the request, and the machine user may have been disabled or deleted meanwhile, or have
        // got another machine token.
        if (!(await store.lockEnabledMachineUser(tx, machine)))
          throw new AppError('unauthenticated', 'Invalid token: it belongs to no enabled machine user')
        if (!(await store.lockApplication(tx, machine.projectId, applicationId))) throw applicationNotFound()
        await lockMasterKey(tx)
        return write(tx, caller, { applicationId, version, callbackUrl: judged.url.href })
      })
    },

    /** From its commit on no callback begins. */
    unregister: ({ machine, actor }: Caller, text: string): Promise<void> => {
      const id = parseUuid(text)
      if (id === null) throw registrationNotFound()
      return db.transaction(async (tx) => {
        const before = await store.lockRegistration(tx, id)
        if (before === undefined) throw registrationNotFound()
        if (before.machineUserId !== machine.id) throw registrationOfAnother()
        await store.deleteRegistration(tx, id)
        await audit.append(tx, actor, event('delete', { before: audited(before, 'old'), after: null }))
      })
    },
  }
}
