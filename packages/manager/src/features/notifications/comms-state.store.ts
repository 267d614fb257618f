// Determines whether a backend may send to a tenant and application. Both must belong to its project, the
// application must be enabled for the tenant, and no setting disables sending. The check is an SQL
// expression, because the statement that writes notifications includes it.
import { orderByPosition } from '../../platform/postgres/coalesce.ts'
import type { PreparedStatement, RunPrepared } from '../../platform/postgres/prepared.ts'

/** A tenant and an application, requested by a machine user of the project. */
export type CommsTarget = { projectId: string; applicationId: string; tenantId: string }
/** `foreign`: the tenant or the application belongs to a different project. `off`: sending is disabled. */
export type CommsState = 'foreign' | 'off' | 'on'

export const formatTargetKey = ({ projectId, applicationId, tenantId }: CommsTarget): string =>
  `${projectId} ${applicationId} ${tenantId}`

const buildLayerSql = (name: string, where: string): string => `
  left join lateral (
    select s.backend_comms_enabled as backend, s.frontend_comms_enabled as frontend from settings s where ${where} limit 1
  ) ${name} on true`

/**
 * SQL joins for `targetStateSql`. Rows of `wanted` need project_id, application_id and tenant_id. Every join is a key
 * lookup.
 */
export const joinState = `
  left join lateral (
    select a.id from applications a
    where a.id = wanted.application_id and a.project_id = wanted.project_id limit 1
  ) app on true
  left join lateral (
    select t.id from tenants t where t.id = wanted.tenant_id and t.project_id = wanted.project_id limit 1
  ) tenant on true
  left join lateral (
    select ta.enabled from tenant2applications ta
    where ta.tenant_id = tenant.id and ta.application_id = app.id limit 1
  ) pair on true
  ${buildLayerSql('own', 's.application_id = app.id and s.tenant_id = tenant.id')}
  ${buildLayerSql('of_tenant', 's.project_id = wanted.project_id and s.tenant_id = tenant.id and s.application_id is null')}
  ${buildLayerSql('of_app', 's.application_id = app.id and s.tenant_id is null')}
  ${buildLayerSql('of_project', 's.project_id = wanted.project_id and s.tenant_id is null and s.application_id is null')}`

// The most specific layer that has a value wins.
const buildOffCondition = (part: string): string =>
  `coalesce(own.${part}, of_tenant.${part}, of_app.${part}, of_project.${part}, '') = 'false'`

/** SQL expression for the state of a row that `joinState` has extended. */
export const targetStateSql = `case
    when app.id is null or tenant.id is null then 'foreign'
    when not coalesce(pair.enabled, false) or ${buildOffCondition('backend')} or ${buildOffCondition('frontend')} then 'off'
    else 'on' end`

const statement: PreparedStatement = {
  name: 'comms-states',
  kind: 'read',
  text: `
    select wanted.position::int, ${targetStateSql} as state
    from unnest($1::uuid[], $2::uuid[], $3::uuid[]) with ordinality
      as wanted (project_id, application_id, tenant_id, position)
    ${joinState}`,
}

/** Returns the states in input order. */
export async function readStates(
  run: RunPrepared,
  targets: readonly CommsTarget[],
): Promise<(CommsState | null)[]> {
  const rows = await run<{ position: number; state: CommsState }>(statement, [
    targets.map(({ projectId }) => projectId),
    targets.map(({ applicationId }) => applicationId),
    targets.map(({ tenantId }) => tenantId),
  ])
  return orderByPosition(targets.length, rows).map((row) => row?.state ?? null)
}
