// Runs that people start or retry, in a scene with a registered backend.
import { randomUUID } from 'node:crypto'
import type { Person } from '@manager/harness/callers.ts'
import type { GraphqlAnswer } from '@manager/harness/graphql.ts'
import { type SeededProject, seedMember, seedUser } from '@manager/harness/seed.ts'
import type { TestApp } from './app.ts'
import { startTriggerScene } from './callbacks.ts'
import { seedRuns } from './triggers.ts'

const runFields =
  'id scheduledAt environment { id } outcome attempts isManual requestedBy retryOf executedAt failure'
type RunInput = { environmentId: string; requestKey?: string | null }
type AuditRow = { entity_type: string; action: string; user_id: string; changes: Record<string, unknown> }
export type ManualRunScene = Awaited<ReturnType<typeof startManualRunScene>>

/** Starts a run. The result is aliased to `run`. */
export const runTrigger = (
  service: TestApp,
  by: Person,
  id: string,
  input: RunInput,
): Promise<GraphqlAnswer> =>
  service.query(
    by,
    `mutation($id: ID!, $environmentId: ID!, $requestKey: String) {
      run: runTrigger(id: $id, environmentId: $environmentId, requestKey: $requestKey) { ${runFields} } }`,
    { id, ...input },
  )

/** Starts a service without a limit on runs, and creates a developer who starts runs. */
export async function startManualRunScene() {
  const scene = await startTriggerScene({ env: { SVC_TRIGGERS_MANUAL_RUNS_PER_MINUTE: '10000' } })
  const { service, project } = scene
  const { sql } = service
  const memberOf = async (role: string, { id: projectId } = project): Promise<Person> => {
    const person = await seedUser(sql, `${role}-${randomUUID()}`)
    await seedMember(sql, person, role, { projectId })
    return person
  }
  const developer = await memberOf('developer')
  return {
    ...scene,
    developer,
    memberOf,
    run: (id: string, more: Partial<RunInput> = {}, by = developer) =>
      runTrigger(service, by, id, { environmentId: project.environmentId, ...more }),
    retry: (id: string, by = developer) =>
      service.query(by, `mutation($id: ID!) { run: retryTriggerRun(id: $id) { ${runFields} } }`, { id }),
    /** Creates a trigger that is not due during the test. */
    createTrigger: (input: Record<string, unknown> = {}) =>
      scene.createTrigger({ cronExpression: '@yearly', ...input }),
    /** Inserts a run with this outcome, planned a minute ago, and returns its id. */
    endedRun: async (triggerId: string, outcome: string, of: SeededProject = project): Promise<string> => {
      const { id: projectId, applicationId, environmentId } = of
      const until = new Date(Date.now() - 60_000)
      await seedRuns(sql, { projectId, applicationId, environmentId, triggerId }, { count: 1, until })
      const { rows } = await sql.query<{ id: string }>(
        `update trigger_runs set outcome = $2, finished_at = case when $2 <> 'pending' then now() end
         where trigger_id = $1 and scheduled_at = $3 returning id`,
        [triggerId, outcome, until],
      )
      return rows[0]?.id as string
    },
    environmentNamed: async (name: string): Promise<string> => {
      const { rows } = await sql.query<{ id: string }>(
        'select id from environments where project_id = $1 and name = $2',
        [project.id, name],
      )
      return rows[0]?.id as string
    },
    /** Returns the audit rows of this trigger's runs that people started, oldest first. */
    auditOf: async (id: string): Promise<AuditRow[]> => {
      const { rows } = await sql.query<AuditRow>(
        `select entity_type, action, user_id, changes from audit_logs
         where entity_id = $1 and action in ('run', 'retry') order by seq`,
        [id],
      )
      return rows
    },
    answerWith: (status: number) =>
      scene.backend.answer((_request, response) => response.writeHead(status).end()),
    /** Deletes all triggers, runs, jobs and backends. */
    clear: async (): Promise<void> => {
      scene.backend.reset()
      for (const table of ['triggers', 'trigger_runs', 'queued_jobs', 'backend_registrations'])
        await sql.query(`delete from ${table}`)
    },
  }
}
