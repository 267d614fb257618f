import type { PreparedStatement, RunPrepared } from '../../platform/postgres/prepared.ts'

/** A deactivated person and the time of the deactivation. */
export type Deactivation = { id: string; at: string }

// An index contains the same expression. The window is longer than a transaction can take after it has set the time.
const statement: PreparedStatement = {
  name: 'comms-recent-deactivations',
  kind: 'read',
  text: `
    select id, greatest(deactivated_by_scim_at, deactivated_by_administrator_at) as at from users
    where greatest(deactivated_by_scim_at, deactivated_by_administrator_at) > now() - interval '60 seconds'`,
}

/** Returns the people who were deactivated within the last 60 s, by the clock of the database. */
export const readRecentDeactivations = (run: RunPrepared): Promise<Deactivation[]> =>
  run<Deactivation>(statement, [])
