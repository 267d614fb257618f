// Whether notifications and hints may be sent for a tenant and an application: both are the caller's, the application is
// enabled for the tenant, and no setting turns them off. As SQL, since it is judged in the statement that writes.
import { inPlace } from '../../platform/postgres/coalesce.ts'
import type { PreparedStatement, RunPrepared } from '../../platform/postgres/prepared.ts'

/** A tenant and an application, named by a machine user of a project. */
export type CommsPlace = { projectId: string; applicationId: string; tenantId: string }
/** `foreign`: one of the two is not the project's; `off`: they are, and nothing may be sent. */
export type CommsState = 'foreign' | 'off' | 'on'

/** Tells places apart. */
export const placeKey = ({ projectId, applicationId, tenantId }: CommsPlace): string =>
  `${projectId} ${applicationId} ${tenantId}`

const layer = (name: string, where: string): string => `
  left join lateral (
    select s.backend_comms_enabled as backend, s.frontend_comms_enabled as frontend from settings s where ${where} limit 1
  ) ${name} on true`

/** What `stateOfWanted` reads, for rows `wanted` with project_id, application_id and tenant_id: lookups by key. */
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
  ${layer('own', 's.application_id = app.id and s.tenant_id = tenant.id')}
  ${layer('of_tenant', 's.project_id = wanted.project_id and s.tenant_id = tenant.id and s.application_id is null')}
  ${layer('of_app', 's.application_id = app.id and s.tenant_id is null')}
  ${layer('of_project', 's.project_id = wanted.project_id and s.tenant_id is null and s.application_id is null')}`

// The value of a key comes from the most specific layer that has it.
const isOff = (part: string): string =>
  `coalesce(own.${part}, of_tenant.${part}, of_app.${part}, of_project.${part}, '') = 'false'`

/** The state of a row that `joinState` extends. */
export const stateOfWanted = `case
    when app.id is null or tenant.id is null then 'foreign'
    when not coalesce(pair.enabled, false) or ${isOff('backend')} or ${isOff('frontend')} then 'off'
    else 'on' end`

const statement: PreparedStatement = {
  name: 'comms-states',
  kind: 'read',
  text: `
    select wanted.position::int, ${stateOfWanted} as state
    from unnest($1::uuid[], $2::uuid[], $3::uuid[]) with ordinality
      as wanted (project_id, application_id, tenant_id, position)
    ${joinState}`,
}

/** The states of these places, in this order. */
export async function readStates(
  run: RunPrepared,
  places: readonly CommsPlace[],
): Promise<(CommsState | null)[]> {
  const rows = await run<{ position: number; state: CommsState }>(statement, [
    places.map(({ projectId }) => projectId),
    places.map(({ applicationId }) => applicationId),
    places.map(({ tenantId }) => tenantId),
  ])
  return inPlace(places.length, rows).map((row) => row?.state ?? null)
}
