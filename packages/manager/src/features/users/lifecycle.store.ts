import { sql } from 'kysely'
import type { Tx } from '../../platform/postgres/handles.ts'
import { type User, columns } from './users.store.ts'

/** The cause of a deactivation. Each has a separate column, so that neither lifts the deactivation of the other. */
export type Deactivator = 'deactivatedByScimAt' | 'deactivatedByAdministratorAt'

/** Sets or clears a deactivation, by the clock of the database. The caller has locked the row. */
export function setDeactivation(
  tx: Tx,
  id: string,
  deactivator: Deactivator,
  isDeactivated: boolean,
): Promise<User> {
  // `clock_timestamp()` and not `now()`: the transaction may have waited for the lock for a while, and other processes
  // look for recent times.
  const time = isDeactivated ? sql<string>`clock_timestamp()` : null
  return tx
    .updateTable('users')
    .set({
      ...(deactivator === 'deactivatedByScimAt'
        ? { deactivatedByScimAt: time }
        : { deactivatedByAdministratorAt: time }),
      updatedAt: sql`now()`,
    })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
}

/** The values that people see. An e-mail address of null keeps the stored one. */
type ProvisionedPerson = { id: string; name: string; username: string; email: string | null }

/** Inserts a person whom an identity provider manages, or makes an existing person such a person. */
export function saveProvisionedUser(tx: Tx, person: ProvisionedPerson): Promise<User> {
  const values = {
    externalName: person.name,
    externalUsername: person.username,
    ...(person.email === null ? {} : { externalEmail: person.email }),
    isProvisioned: true,
  }
  return tx
    .insertInto('users')
    .values({ id: person.id, ...values })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ ...values, updatedAt: sql`now()` }))
    .returning(columns)
    .executeTakeFirstOrThrow()
}

/** Lets the next sign-in change the name and the e-mail address again. */
export async function releaseProvisionedUser(tx: Tx, id: string): Promise<void> {
  await tx
    .updateTable('users')
    .set({ isProvisioned: false, updatedAt: sql`now()` })
    .where('id', '=', id)
    .execute()
}
