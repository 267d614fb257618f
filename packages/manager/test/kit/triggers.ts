// Calls about triggers, and their rows by SQL.
import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import type { Person } from '@manager/harness/callers.ts'
import type { TestApp } from './app.ts'
import { type Input, rowCalls } from './row-calls.ts'

type Owner = { id: string; applicationId: string }

/** An enabled trigger that is due in a year, by SQL; returns its id. */
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

/** Runs of a trigger in one environment, a minute apart, the last one planned for `until`; by SQL. */
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

/** The operations on triggers, with `row` or `rows` for their result. The service is asked for at each call. */
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
    /** When the database has it due, and its own time. */
    planOf: async (id: string): Promise<{ nextFireAt: Date | null; now: Date } | undefined> => {
      const { rows } = await service().sql.query<{ nextFireAt: Date | null; now: Date }>(
        'select next_fire_at as "nextFireAt", now() from triggers where id = $1',
        [id],
      )
      return rows[0]
    },
    /** Its rows of the audit trail, oldest first. */
    auditOf: async (id: string): Promise<{ action: string; changes: Input; user_id: string }[]> => {
      const { rows } = await service().sql.query<{ action: string; changes: Input; user_id: string }>(
        'select action, changes, user_id from audit_logs where entity_id = $1 order by seq',
        [id],
      )
      return rows
    },
  }
}
