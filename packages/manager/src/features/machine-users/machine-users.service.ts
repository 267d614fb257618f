import type { Actor } from '../../policy/actor.ts'
import { type ExpectedRevision, checkRevision } from '../../policy/revisions.ts'
import type { Audit } from '../../platform/audit/append.ts'
import { createEventBuilder } from '../../platform/audit/entity.ts'
import type { Db, Tx } from '../../platform/postgres/handles.ts'
import { badRequest, conflict, orNotFound } from '../../platform/errors.ts'
import { type ListArgs, readPage } from '../../platform/lists/filters.ts'
import { checkInput } from '../../platform/inputs/fields.ts'
import { checkName } from '../../platform/inputs/inputs.ts'
import * as store from './machine-users.store.ts'

export type MachineUsersDeps = {
  db: Db
  audit: Audit
  /**
   * Returns the number of logged ESB requests of a machine user as text, or null if there are none. Any
   * logged request prevents deletion.
   */
  countServedRequests: (tx: Tx, machineUserId: string) => Promise<string | null>
}
export type MachineUsersService = ReturnType<typeof createMachineUsersService>

type UpdateInput = {
  name?: string | null
  enabled?: boolean | null
  hashedKey?: string | null
  tokenPrefix?: string | null
  clearTokenPrefix?: boolean | null
  expectedRevision?: ExpectedRevision
}

/**
 * Builds audit events. Stored credentials are never returned by the store, so audit rows cannot contain them.
 */
export const machineUserEvent = createEventBuilder<store.MachineUser>({
  type: 'machineUser',
  classes: {
    id: 'public',
    projectId: 'ignored',
    environmentId: 'public',
    name: 'public',
    username: 'public',
    enabled: 'public',
    tokenPrefix: 'public',
    lastRotatedAt: 'public',
    createdAt: 'ignored',
  },
  nameOf: (row) => row.name,
  projectOf: (row) => row.projectId,
})

const [defaultRotationDays, maxRotationDays] = [90, 3_650]
const credentialFields = ['hashedKey', 'tokenPrefix', 'clearTokenPrefix'] as const

/** Lists, updates and deletes machine users. Credentials have their own service. */
export function createMachineUsersService(deps: MachineUsersDeps) {
  const { db, audit } = deps
  return {
    list: (environmentId: string, args: ListArgs): Promise<store.MachineUser[]> =>
      store.listMachineUsers(db.read, { environmentId }, readPage(store.machineUserFields, args)),

    listByProject: (projectId: string, args: ListArgs): Promise<store.MachineUser[]> =>
      store.listMachineUsers(db.read, { projectId }, readPage(store.machineUserFields, args)),

    /** Returns the enabled machine users whose credential is more than `days` days old. */
    listToRotate: (
      projectId: string,
      days: number | null | undefined,
      args: ListArgs,
    ): Promise<store.MachineUser[]> => {
      const page = readPage(store.machineUserFields, args)
      const age = days ?? defaultRotationDays
      if (age < 1 || age > maxRotationDays) throw badRequest(`days must be from 1 to ${maxRotationDays}`)
      return store.listMachineUsersToRotate(db.read, projectId, age, page)
    },

    /** Returns when each machine user was last used, in the order of the ids; null if it was never used. */
    findLastUses: async (ids: readonly string[]): Promise<(string | null)[]> => {
      const lastUses = await store.findLastUses(db.read, ids)
      return ids.map((id) => lastUses.get(id) ?? null)
    },

    findMany: (ids: readonly string[]): Promise<store.MachineUser[]> => store.findMachineUsers(db.read, ids),

    update: (actor: Actor, id: string, input: UpdateInput): Promise<store.MachineUser> => {
      checkInput(
        Object.fromEntries(credentialFields.map((field) => [field, () => rejectCredential(input, field)])),
      )
      return db.transaction(async (tx) => {
        const before = orNotFound(await store.lockMachineUser(tx, id), 'machine user')
        await checkRevision(tx, actor, before, input.expectedRevision)
        const { name } = checkInput({ name: () => checkName(input.name ?? before.name) })
        const after = await store.updateMachineUser(tx, id, {
          name,
          enabled: input.enabled ?? before.enabled,
        })
        await audit.append(tx, actor, machineUserEvent('update', { before, after }))
        return after
      })
    },

    delete: (actor: Actor, id: string, expectedRevision: ExpectedRevision): Promise<true> =>
      db.transaction(async (tx) => {
        const before = orNotFound(await store.lockMachineUser(tx, id), 'machine user')
        await checkRevision(tx, actor, before, expectedRevision)
        const requestCountText = await deps.countServedRequests(tx, id)
        if (requestCountText !== null)
          throw conflict(
            `the machine user has served ${requestCountText} and cannot be deleted; disable it instead (updateMachineUser with enabled: false)`,
          )
        await store.deleteMachineUser(tx, id)
        await audit.append(tx, actor, machineUserEvent('delete', { before, after: null }))
        return true as const
      }),
  }
}

function rejectCredential(input: UpdateInput, field: (typeof credentialFields)[number]): void {
  if ((input[field] ?? null) !== null)
    throw badRequest(
      `updateMachineUser does not accept ${field}: replace the credential with rotateMachineUserToken`,
    )
}
