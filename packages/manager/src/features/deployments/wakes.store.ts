import { sql } from 'kysely'
import { orderByPosition } from '../../platform/postgres/coalesce.ts'
import type { Queries, Reads, Tx } from '../../platform/postgres/handles.ts'
import type { PreparedStatement, RunPrepared } from '../../platform/postgres/prepared.ts'

/** An application id and an environment name, in the form that the proxy sends. */
export type DeploymentKey = { applicationId: string; environment: string }

/** A deployment with its last wake. Without a specification, the fields after the ids are null. */
export type FoundDeployment = {
  applicationId: string
  environmentId: string
  specificationId: string | null
  scaleToZero: boolean | null
  /** The holder and the result of the last wake. */
  holder: string | null
  isInProgress: boolean | null
  endedMsAgo: number | null
  minReplicas: number | null
  alreadyAwake: boolean | null
  failure: string | null
}

// The statement performs four index lookups: application, environment, specification and last wake.
const findStatement: PreparedStatement = {
  name: 'deployments-find',
  kind: 'read',
  text: `
    select wanted.position::int, a.id as "applicationId", e.id as "environmentId", s.id as "specificationId",
      s.scale_to_zero as "scaleToZero", w.holder, w.claimed_until > clock_timestamp() as "isInProgress",
      (extract(epoch from clock_timestamp() - w.ended_at) * 1000)::float8 as "endedMsAgo",
      w.min_replicas as "minReplicas", w.already_awake as "alreadyAwake", w.failure
    from unnest($1::uuid[], $2::text[]) with ordinality as wanted (application_id, environment, position)
    cross join lateral (
      select id, project_id from applications where applications.id = wanted.application_id limit 1
    ) a
    cross join lateral (
      select id from environments
      where environments.project_id = a.project_id and environments.name = wanted.environment limit 1
    ) e
    left join lateral (
      select id, scale_to_zero from deployment_specifications d
      where d.application_id = a.id and d.environment_id = e.id limit 1
    ) s on true
    left join lateral (
      select * from deployment_wakes where deployment_wakes.specification_id = s.id limit 1
    ) w on true`,
}

/** Returns the deployments in the given order, or null for an unknown application or environment. */
export async function findDeployments(
  run: RunPrepared,
  keys: readonly DeploymentKey[],
): Promise<(FoundDeployment | null)[]> {
  const rows = await run<FoundDeployment & { position: number }>(findStatement, [
    keys.map(({ applicationId }) => applicationId),
    keys.map(({ environment }) => environment),
  ])
  return orderByPosition<FoundDeployment>(keys.length, rows)
}

/** A deployment with the names that the proxy uses. Without a specification, the last two fields are null. */
export type NamedDeployment = DeploymentKey & {
  projectId: string
  specificationId: string | null
  workload: string | null
}

/** Returns a deployment by its ids; undefined unless the environment belongs to the project of the application. */
export function findNamedDeployment(
  db: Reads,
  { applicationId, environmentId }: { applicationId: string; environmentId: string },
): Promise<NamedDeployment | undefined> {
  return db
    .selectFrom('applications as a')
    .innerJoin('environments as e', 'e.projectId', 'a.projectId')
    .leftJoin('deploymentSpecifications as s', (on) =>
      on.onRef('s.applicationId', '=', 'a.id').onRef('s.environmentId', '=', 'e.id'),
    )
    .select(['a.projectId', 'a.id as applicationId', 'e.name as environment', 's.id as specificationId'])
    .select('s.workload')
    .where('a.id', '=', applicationId)
    .where('e.id', '=', environmentId)
    .executeTakeFirst()
}

type Claim = {
  specificationId: string
  holder: string
  leaseMs: number
  resultTtlMs: number
  failureTtlMs: number
}

/**
 * Claims the wake for this process, unless another process is waking the deployment or has just finished
 * waking it. Returns the workload to wake, or undefined. The statement checks the flag again. No lock is held
 * while the deployment wakes.
 */
export async function claimWake(db: Queries, claim: Claim): Promise<string | undefined> {
  const { rows } = await sql<{ workload: string }>`
    with claimed as (
      insert into deployment_wakes as w (specification_id, holder, claimed_until)
      select id, ${claim.holder}, clock_timestamp() + make_interval(secs => ${claim.leaseMs / 1_000})
      from deployment_specifications where id = ${claim.specificationId} and scale_to_zero
      on conflict (specification_id) do update
      set holder = excluded.holder, claimed_until = excluded.claimed_until,
        ended_at = null, min_replicas = null, already_awake = null, failure = null
      where w.claimed_until <= clock_timestamp() or w.ended_at <= clock_timestamp() - make_interval(
        secs => case when w.failure is null then ${claim.resultTtlMs / 1_000}::float8
          else ${claim.failureTtlMs / 1_000}::float8 end)
      returning specification_id
    )
    select s.workload from deployment_specifications s join claimed on s.id = claimed.specification_id`.execute(
    db,
  )
  return rows[0]?.workload
}

/** Deletes the result of the last wake. */
export async function deleteWake(tx: Tx, specificationId: string): Promise<void> {
  await tx.deleteFrom('deploymentWakes').where('specificationId', '=', specificationId).execute()
}

type WakeEnd = { minReplicas: number; alreadyAwake: boolean } | { failure: string }

/** Stores the result of a wake, unless its claim has expired and another process has taken over. */
export async function endWake(
  db: Queries,
  { specificationId, holder }: Pick<Claim, 'specificationId' | 'holder'>,
  wakeEnd: WakeEnd,
): Promise<void> {
  await db
    .updateTable('deploymentWakes')
    .set({ ...wakeEnd, claimedUntil: null, endedAt: sql`clock_timestamp()` })
    .where('specificationId', '=', specificationId)
    .where('holder', '=', holder)
    .where('claimedUntil', 'is not', null)
    .execute()
}
