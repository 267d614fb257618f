import { sql } from 'kysely'
import type { Tx } from '../../platform/postgres/handles.ts'

export type Registration = {
  id: string
  projectId: string
  applicationId: string
  environmentId: string
  machineUserId: string
  callbackUrl: string
  version: string
}
type MutableValues = { callbackUrl: string; version: string; callbackToken: Buffer; signingSecret: Buffer }

const columns = [
  ...(['id', 'projectId', 'applicationId', 'environmentId', 'machineUserId'] as const),
  ...(['callbackUrl', 'version'] as const),
]

/**
 * Returns whether the machine user is enabled and still has this user name, which changes when its token is
 * rotated. The lock on its row serializes its registrations.
 */
export async function lockEnabledMachineUser(
  tx: Tx,
  { id, username }: { id: string; username: string },
): Promise<boolean> {
  const row = await tx
    .selectFrom('machineUsers')
    .select('id')
    .where('id', '=', id)
    .where('username', '=', username)
    .where('enabled', '=', true)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Returns whether the application belongs to the project. The lock prevents its deletion until the transaction ends.
 */
export async function lockApplication(tx: Tx, projectId: string, id: string): Promise<boolean> {
  const row = await tx
    .selectFrom('applications')
    .select('id')
    .where('id', '=', id)
    .where('projectId', '=', projectId)
    .forKeyShare()
    .executeTakeFirst()
  return row !== undefined
}

/** Returns the registration of a machine user for an application and locks it until the transaction ends. */
export function lockRegistrationByApplication(
  tx: Tx,
  applicationId: string,
  machineUserId: string,
): Promise<Registration | undefined> {
  return tx
    .selectFrom('backendRegistrations')
    .select(columns)
    .where('applicationId', '=', applicationId)
    .where('machineUserId', '=', machineUserId)
    .forUpdate()
    .executeTakeFirst()
}

/** Returns one registration and locks it until the transaction ends. */
export function lockRegistration(tx: Tx, id: string): Promise<Registration | undefined> {
  return tx
    .selectFrom('backendRegistrations')
    .select(columns)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
}

export async function insertRegistration(tx: Tx, values: Registration & MutableValues): Promise<void> {
  await tx.insertInto('backendRegistrations').values(values).execute()
}

/**
 * Updates a registration, which counts as a heartbeat. A more recent heartbeat may have been written while
 * this transaction waited.
 */
export async function updateRegistration(tx: Tx, id: string, values: MutableValues): Promise<void> {
  await tx
    .updateTable('backendRegistrations')
    .set({
      ...values,
      updatedAt: sql`now()`,
      lastHeartbeat: sql`greatest(last_heartbeat, now())`,
    })
    .where('id', '=', id)
    .execute()
}

export async function deleteRegistration(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('backendRegistrations').where('id', '=', id).execute()
}
