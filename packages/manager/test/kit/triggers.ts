// Trigger calls, and functions that seed trigger rows with SQL.
import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import type { Person } from '@manager/harness/callers.ts'
import { type SeededProject, seedMachineUser } from '@manager/harness/seed.ts'
import type { TestApp } from './app.ts'
import { type Input, rowCalls } from './row-calls.ts'

type Owner = { id: string; applicationId: string }

/** Seeds an enabled trigger that is due in one year and returns its id. */
export async function seedTrigger(sql: Pool, { id: projectId, applicationId }: Owner): Promise<string> {
  const id = randomUUID()
  await sql.query(
    `insert into triggers (id, project_id, application_id, name, description, cron_expression, run_key, enabled,
       next_fire_at)
     values ($1, $2, $3, 'seeded', '', '@yearly', '', true, now() + interval '1 year')`,
    [id, projectId, applicationId],
  )
  return id
}

/** Seeds a live backend of the application in the environment. Its secrets cannot be decrypted. */
export async function seedBackend(sql: Pool, of: SeededProject): Promise<void> {
  const machine = await seedMachineUser(sql, of)
  await sql.query(
    `insert into backend_registrations (id, project_id, application_id, environment_id, machine_user_id, callback_url,
       callback_token, version)
     values (gen_random_uuid(), $1, $2, $3, $4, 'https://backend.example.com/run', '', '')`,
    [of.id, of.applicationId, of.environmentId, machine.id],
  )
}

/** Seeds runs of a trigger in one environment, one minute apart. The last run is planned for `until`. */
export async function seedRuns(
  sql: Pool,
  of: { projectId: string; applicationId: string; triggerId: string; environmentId: string },
  { count, until }: { count: number; until: Date },
): Promise<void> {
  await sql.query(
    `insert into trigger_runs (id, scheduled_at, project_id, application_id, trigger_id, environment_id, trigger_name,
       cron_expression, run_key, outcome)
     select gen_random_uuid(), $5::timestamptz - n * interval '1 minute', $1, $2, $3, $4, 'seeded', '* * * * *', '',
       'missed'
     from generate_series(0, $6 - 1) n`,
    [of.projectId, of.applicationId, of.triggerId, of.environmentId, until, count],
  )
}

export const triggerFields = 'id name description cronExpression runKey enabled createdAt updatedAt'

/**
 * Returns operations on triggers. The result of each is aliased to `row` or `rows`. `service` is read on each call.
 */
export function triggerCalls(service: () => TestApp) {
  const { query, ...changes } = rowCalls(service, 'Trigger', triggerFields)
  return {
    ...changes,
    list: (caller: Person, application: string, selected = triggerFields) =>
      query(
        caller,
        `query($application: ID!) { rows: triggers(application: $application) { ${selected} } }`,
        { application },
      ),
    get: (caller: Person, id: string, selected = triggerFields) =>
      query(caller, `query($id: ID!) { row: trigger(id: $id) { ${selected} } }`, { id }),
    runsOf: (caller: Person, trigger: string, limit?: number) =>
      query(
        caller,
        `query($trigger: ID!, $limit: Int) { rows: triggerRuns(trigger: $trigger, limit: $limit) {
          id scheduledAt environment { id name } outcome attempts executedAt finishedAt responseStatus failure createdAt } }`,
        { trigger, limit },
      ),
    /** Returns the time at which the trigger is due, and the current time of the database. */
    planOf: async (id: string): Promise<{ nextFireAt: Date | null; now: Date } | undefined> => {
      const { rows } = await service().sql.query<{ nextFireAt: Date | null; now: Date }>(
        'select next_fire_at as "nextFireAt", now() from triggers where id = $1',
        [id],
      )
      return rows[0]
    },
    /** Returns the audit rows of a trigger, oldest first. */
    auditOf: async (id: string): Promise<{ action: string; changes: Input; user_id: string }[]> => {
      const { rows } = await service().sql.query<{ action: string; changes: Input; user_id: string }>(
        'select action, changes, user_id from audit_logs where entity_id = $1 order by seq',
        [id],
      )
      return rows
    },
  }
}
