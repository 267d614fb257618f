// Creates the test data of the trigger scenarios: projects with many applications, each with one registered backend,
// and triggers. Objects whose creation is not under test are inserted with SQL. Backends register and send heartbeats
// through the API.
import { randomUUID } from 'node:crypto'
import { createMachineToken } from '@manager/harness/seed.ts'
import type { Pool } from 'pg'
import { inParallel } from './pace.ts'
import { type Planned, type Recorder, createRecorder } from './recorder.ts'
import type { Replica } from './replicas.ts'
import { proxySecret } from '@manager/harness/callers.ts'
import type { Sink } from './sink.ts'

type Deployment = {
  projectId: string
  environmentId: string
  applicationId: string
  token: string
  destination: number
  registrationId: string
}
export type World = { deployments: Deployment[]; recorder: Recorder; stopHeartbeats: () => void }
export type PlannedTriggers = {
  count: number
  expression: string
  /** The time when the first trigger is due. The others are spread evenly over `spreadMs`. */
  dueAt: number
  spreadMs?: number
}

/** A schedule far from every planned time, so that a trigger is due only once, at its `next_fire_at`. */
export const yearly = '0 0 1 1 *'
// The number of projects. A project may use only some of a replica's concurrent deliveries.
const projects = 4
const heartbeatMs = 20_000
const callsAtOnce = 20

/** Creates the projects and registers one backend per destination. Heartbeats continue until `stopHeartbeats`. */
export async function createWorld(sql: Pool, sink: Sink, replicas: () => Replica[]): Promise<World> {
  const recorder = createRecorder()
  const deployments: Deployment[] = []
  for (let project = 0; project < projects; project++) {
    const destinations = [...Array(sink.size).keys()].filter((index) => index % projects === project)
    deployments.push(...(await seedProject(sql, `faults-${project}`, destinations)))
  }
  const callOne = createCaller(replicas)
  let refusal = ''
  await inParallel(deployments, callsAtOnce, async (deployment) => {
    const body = {
      application_id: deployment.applicationId,
      callback_url: sink.urlOf(deployment.destination),
    }
    await recorder.record('register', deployment.applicationId, async () => {
      const { status, text } = await callOne(deployment.token, 'POST', '/api/machine/register-backend', body)
      if (status < 300)
        deployment.registrationId = (JSON.parse(text) as { registered_id: string }).registered_id
      else refusal = text
      return status
    })
  })
  if (deployments.some(({ registrationId }) => registrationId === ''))
    throw new Error(`registering the backends failed: ${refusal}`)
  const beat = (): Promise<void[]> =>
    inParallel(deployments, callsAtOnce, async ({ token, registrationId }) => {
      await recorder.record('heartbeat', registrationId, async () => {
        return (await callOne(token, 'PUT', `/api/machine/backend/${registrationId}/heartbeat`)).status
      })
    })
  const timer = setInterval(() => void beat(), heartbeatMs)
  return { deployments, recorder, stopHeartbeats: () => clearInterval(timer) }
}

async function seedProject(sql: Pool, slug: string, destinations: readonly number[]): Promise<Deployment[]> {
  const [projectId, environmentId] = [randomUUID(), randomUUID()]
  await sql.query('insert into projects (id, name, slug) values ($1, $2, $2)', [projectId, slug])
  await sql.query(
    `insert into environments (id, project_id, name, display_name, sort_order, protected)
     values ($1, $2, 'dev', 'Development', 10, false)`,
    [environmentId, projectId],
  )
  const made = destinations.map((destination) => ({
    projectId,
    environmentId,
    applicationId: randomUUID(),
    destination,
    registrationId: '',
    ...createMachineToken(),
  }))
  await sql.query(
    `insert into applications (id, project_id, name, slug)
     select id, $1, 'Application ' || position, 'application-' || position
     from unnest($2::uuid[]) with ordinality as wanted (id, position)`,
    [projectId, made.map(({ applicationId }) => applicationId)],
  )
  await sql.query(
    `insert into machine_users (id, project_id, environment_id, name, username, enabled, token_prefix, token_hash)
     select gen_random_uuid(), $1, $2, 'backend ' || position, 'Bearer:' || prefix, true, prefix, hash
     from unnest($3::text[], $4::bytea[]) with ordinality as wanted (prefix, hash, position)`,
    [
      projectId,
      environmentId,
      made.map(({ tokenPrefix }) => tokenPrefix),
      made.map(({ tokenHash }) => tokenHash),
    ],
  )
  return made
}

/** Calls the running replicas in rotation. A call to a frozen replica times out after 5 s and is retried. */
function createCaller(replicas: () => Replica[]) {
  let turn = 0
  return async (
    token: string,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; text: string }> => {
    for (let tries = 0; ; tries++) {
      const running = replicas().filter((replica) => replica.isAlive())
      const replica = running[turn++ % running.length]
      if (replica === undefined) throw new Error('no replica is running')
      try {
        const response = await fetch(replica.url + path, {
          method,
          headers: {
            'x-proxy-auth': proxySecret,
            authorization: `Bearer ${token}`,
            'content-type': 'application/json',
          },
          signal: AbortSignal.timeout(5_000),
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        })
        return { status: response.status, text: await response.text() }
      } catch (error) {
        if (tries === 3) throw error
      }
    }
  }
}

/** Distributes triggers evenly over the destinations. Returns the time when each trigger is first due. */
export async function planTriggers(sql: Pool, world: World, plan: PlannedTriggers): Promise<Planned[]> {
  const { count, expression, dueAt, spreadMs = 0 } = plan
  const { deployments } = world
  const { rows } = await sql.query<{ id: string; application_id: string; next_fire_at: Date }>(
    `insert into triggers (id, project_id, application_id, name, description, cron_expression, run_key, enabled, next_fire_at)
     select gen_random_uuid(), ($1::uuid[])[1 + n % cardinality($2::uuid[])], ($2::uuid[])[1 + n % cardinality($2::uuid[])],
       'trigger ' || n, '', $3, 'faults', true,
       to_timestamp($4::float8 / 1000) + n * $5::float8 / $6 * interval '1 millisecond'
     from generate_series(0, $6::integer - 1) n
     returning id, application_id, next_fire_at`,
    [
      deployments.map(({ projectId }) => projectId),
      deployments.map(({ applicationId }) => applicationId),
      expression,
      dueAt,
      spreadMs,
      count,
    ],
  )
  const environments = new Map(
    deployments.map(({ applicationId, environmentId }) => [applicationId, environmentId]),
  )
  return rows.map(({ id, application_id, next_fire_at }) => ({
    triggerId: id,
    environmentId: environments.get(application_id) as string,
    scheduledAt: next_fire_at.getTime(),
  }))
}

/** Postpones all triggers by one day. Runs that are already scheduled continue. */
export async function endTriggers(sql: Pool): Promise<void> {
  await sql.query(
    "update triggers set next_fire_at = now() + interval '1 day' where next_fire_at < now() + interval '12 hours'",
  )
}

/** Returns the start of the next minute that is at least `ms` away. */
export const minuteAfter = (ms: number): number => Math.ceil((Date.now() + ms) / minuteMs) * minuteMs

/** One minute in milliseconds, the shortest schedule interval. */
export const minuteMs = 60_000
