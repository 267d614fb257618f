// Creates a project with a registered backend: a real HTTP server on loopback that receives callbacks. Tests
// use SQL to simulate elapsed time: they make waiting jobs due and heartbeats old.
import { startBackgroundWork } from '../../src/platform/jobs/start.ts'
import type { Person } from '@manager/harness/callers.ts'
import { type TestApp, type TestAppOptions, startTestApp } from './app.ts'
import { bearer, call } from '@manager/harness/credentials.ts'
import { type SeededProject, seedMachineUser, seedProject, seedUser } from '@manager/harness/seed.ts'
import { type Upstream, startUpstream } from './upstream.ts'

type RunRow = {
  id: string
  environment_id: string
  scheduled_at: Date
  outcome: string
  attempts: number
  executed_at: Date | null
  finished_at: Date | null
  response_status: number | null
  failure: string | null
}
type Registered = {
  id: string
  token: string
  signingSecret: string
  machine: { id: string; token: string }
}
export type TriggerScene = Awaited<ReturnType<typeof startTriggerScene>>

/** Returns the planned time of a trigger that fires in the current minute. */
export const thisMinute = (): Date => new Date(Math.floor(Date.now() / 60_000) * 60_000)

/**
 * Waits for the next minute if the current one is almost over. Otherwise, the trigger could fire again during the
 * test.
 */
async function leaveEndOfMinute(): Promise<void> {
  const leftMs = 60_000 - (Date.now() % 60_000)
  if (leftMs < 8_000) await new Promise((resolve) => setTimeout(resolve, leftMs + 50))
}

/** Starts a service that may send callbacks to loopback addresses. */
export async function startTriggerScene(options: TestAppOptions = {}) {
  const env = { SVC_CALLBACKS_ALLOWED_CIDRS: '127.0.0.0/8', ...options.env }
  const service = await startTestApp({ ...options, env })
  const admin = await seedUser(service.sql, 'admin', 'administrator')
  const project = await seedProject(service.sql, 'shop')
  const backend = await startUpstream()
  const scene = { service, admin, project, backend }
  return {
    ...scene,
    ...registering(scene),
    ...triggering(scene),
    ...passing(service),
    close: async () => {
      await service.close()
      await backend.close()
    },
  }
}
type Scene = { service: TestApp; admin: Person; project: SeededProject; backend: Upstream }

function registering({ service, project, backend }: Scene) {
  return {
    /** Registers a backend with a new machine user. */
    register: async (
      callbackUrl = `${backend.url}/callbacks`,
      owner: SeededProject = project,
    ): Promise<Registered> => {
      const machine = await seedMachineUser(service.sql, owner)
      const { status, body } = await call(
        service.url,
        '/api/machine/register-backend',
        bearer(machine.token),
        {
          application_id: owner.applicationId,
          callback_url: callbackUrl,
        },
      )
      if (status !== 201) throw new Error(`registering failed: ${JSON.stringify(body)}`)
      return {
        id: body['registered_id'] as string,
        token: body['token'] as string,
        signingSecret: body['signing_secret'] as string,
        machine,
      }
    },
    /** Sets the last heartbeat to `seconds` ago. */
    silence: (registration: { id: string }, seconds: number) =>
      service.sql.query(
        'update backend_registrations set last_heartbeat = now() - make_interval(secs => $2) where id = $1',
        [registration.id, seconds],
      ),
  }
}

function triggering({ service, admin, project }: Scene) {
  return {
    createTrigger: async (input: Record<string, unknown> = {}, applicationId = project.applicationId) => {
      const { data, error } = await service.query(
        admin,
        `mutation($applicationId: ID!, $input: CreateTriggerInput!) {
          row: createTrigger(applicationId: $applicationId, input: $input) { id name } }`,
        { applicationId, input: { name: 'nightly', cronExpression: '* * * * *', runKey: 'night', ...input } },
      )
      if (error !== null) throw new Error(error)
      return data.row as { id: string; name: string }
    },
    updateTrigger: async (id: string, input: Record<string, unknown>) => {
      const { error } = await service.query(
        admin,
        'mutation($id: ID!, $input: UpdateTriggerInput!) { updateTrigger(id: $id, input: $input) { id } }',
        { id, input },
      )
      if (error !== null) throw new Error(error)
    },
    /** Makes the trigger due, as of the given time. */
    makeDue: async (id: string, since?: Date): Promise<void> => {
      await leaveEndOfMinute()
      const values = [id, since ?? thisMinute()]
      await service.sql.query('update triggers set next_fire_at = $2 where id = $1', values)
    },
    /** Returns the runs of a trigger, ordered by planned time. */
    runsOf: async (id: string): Promise<RunRow[]> => {
      const { rows } = await service.sql.query<RunRow>(
        'select * from trigger_runs where trigger_id = $1 order by scheduled_at, environment_id',
        [id],
      )
      return rows
    },
  }
}

/** Makes delayed jobs due now. */
export const skipWaits = (sql: TestApp['sql']) =>
  sql.query('update queued_jobs set hidden_until = null where hidden_until is not null and not is_held')

function passing(service: TestApp) {
  const jobsWhere = async (condition: string): Promise<number> => {
    const { rows } = await service.sql.query(
      `select count(*)::int as jobs from queued_jobs where ${condition}`,
    )
    return rows[0].jobs as number
  }
  /** Processes due jobs until the returned function is called. */
  const startWorkers = (): (() => Promise<void>) => {
    const { app } = service
    // Remove these metrics, because each start registers them again.
    for (const name of ['total', 'waiting', 'oldest_seconds', 'held'])
      app.metrics.registry.removeSingleMetric(`svc_jobs_${name}`)
    const stop = startBackgroundWork({ ...app, schedules: [] }, ['jobs'])
    return () => stop(15_000)
  }
  return {
    startWorkers,
    /** Runs one scheduler tick. */
    plan: () => service.app.schedules.find(({ name }) => name === 'trigger-scheduling')?.run(),
    /** Processes all jobs that are due now. */
    deliver: async (): Promise<void> => {
      const stop = startWorkers()
      while ((await jobsWhere('is_held or hidden_until is null or hidden_until <= now()')) > 0)
        await new Promise((resolve) => setTimeout(resolve, 10))
      await stop()
    },
    /** Returns the remaining delays of waiting jobs in seconds. */
    waits: async (): Promise<number[]> => {
      const { rows } = await service.sql.query(
        `select extract(epoch from hidden_until - waiting_since)::float8 as wait from queued_jobs
         where hidden_until is not null and not is_held order by 1`,
      )
      return rows.map(({ wait }) => wait as number)
    },
    skipWaits: () => skipWaits(service.sql),
    jobsWhere,
  }
}
