// Runs of triggers, inserted with SQL.
import { randomUUID } from 'node:crypto'
import type { Scene } from './scene.ts'

/** Returns the id of an environment of the project. */
export async function findEnvironment({ service, project }: Scene, name: string): Promise<string> {
  const { rows } = await service.sql.query<{ id: string }>(
    'select id from environments where project_id = $1 and name = $2',
    [project.id, name],
  )
  return rows[0]?.id as string
}

type SeededRun = {
  triggerId: string
  environmentId: string
  outcome: 'pending' | 'delivered' | 'failed' | 'missed'
  status?: number
  failure?: string
  /** The age of the run. */
  minutes?: number
}

const minuteMs = 60_000
const thisMinute = Math.floor(Date.now() / minuteMs) * minuteMs

/** Inserts a run and returns its id. */
export async function seedRun(
  { service, project }: Pick<Scene, 'service' | 'project'>,
  run: SeededRun,
): Promise<string> {
  const id = randomUUID()
  const { triggerId, environmentId, outcome, status = null, failure = null, minutes = 0 } = run
  const planned = new Date(thisMinute - minutes * minuteMs)
  await service.sql.query(
    `insert into trigger_runs (id, scheduled_at, project_id, application_id, trigger_id, environment_id, trigger_name,
       cron_expression, run_key, outcome, attempts, executed_at, finished_at, response_status, failure)
     values ($1, $2::timestamptz, $3, $4, $5, $6, 'seeded', '@yearly', '', $7::text, 1, $2::timestamptz,
       case when $7::text <> 'pending' then $2::timestamptz + interval '420 milliseconds' end, $8, $9)`,
    [id, planned, project.id, project.applicationId, triggerId, environmentId, outcome, status, failure],
  )
  return id
}

/** Inserts a failed run in the first environment of the project. */
export const seedFailedRun = (of: Pick<Scene, 'service' | 'project'>, triggerId: string): Promise<string> =>
  seedRun(of, {
    triggerId,
    environmentId: of.project.environmentId,
    outcome: 'failed',
    status: 503,
    failure: 'the backend returned 503',
  })
