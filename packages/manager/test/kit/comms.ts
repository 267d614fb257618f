// Sends notifications as a backend, and reads the stored rows.
import { randomUUID } from 'node:crypto'
import type { TestApp } from './app.ts'
import { type JsonAnswer, bearer } from '@manager/harness/credentials.ts'
import { type SeededProject, seedMember, seedUser } from '@manager/harness/seed.ts'

type Service = Pick<TestApp, 'url'>
type Target = Pick<SeededProject, 'applicationId' | 'tenantId'>

/** Returns the fields that select the recipients of a notification or of live data. */
export const targetFields = ({ applicationId, tenantId }: Target) => ({
  application_id: applicationId,
  tenant_id: tenantId,
})

/** Sends a backend request to a comms route. */
async function send(
  { url }: Service,
  path: string,
  { token, body, key }: { token: string; body: unknown; key?: string | undefined },
): Promise<JsonAnswer> {
  const response = await fetch(`${url}/api/machine/comms/${path}`, {
    method: 'POST',
    headers: {
      ...bearer(token),
      'content-type': 'application/json',
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: await response.json(), headers: response.headers }
}
export const emit = (service: Service, token: string, body: unknown, key?: string): Promise<JsonAnswer> =>
  send(service, 'emit', { token, body, key })
export const publish = (service: Service, token: string, body: unknown): Promise<JsonAnswer> =>
  send(service, 'publish', { token, body })

export type KeptNotification = Record<
  'body' | 'data' | 'link' | 'severity' | 'title' | 'type' | 'tenant_id' | 'application_id',
  string | null
> & { created_at: Date; expires_at: Date | null }

/** Returns the stored notification, or null if none exists. */
export async function contentOf({ sql }: Pick<TestApp, 'sql'>, id: string): Promise<KeptNotification | null> {
  const { rows } = await sql.query<KeptNotification>(
    'select *, data::text as data from notifications where id = $1',
    [id],
  )
  return rows[0] ?? null
}

/** Returns the ids of the recipients of a notification. */
export async function recipientsOf({ sql }: Pick<TestApp, 'sql'>, id: string): Promise<string[]> {
  const { rows } = await sql.query<{ user_id: string }>(
    'select user_id from notification_recipients where notification_id = $1 order by user_id',
    [id],
  )
  return rows.map(({ user_id }) => user_id)
}

/** Adds a new member to the project's tenant and returns the user id. */
export async function seedTenantMember(
  { sql }: Pick<TestApp, 'sql'>,
  { id: projectId, tenantId }: Pick<SeededProject, 'id' | 'tenantId'>,
  role = 'member',
): Promise<string> {
  const person = await seedUser(sql, `member-${randomUUID()}`)
  await seedMember(sql, person, role, { projectId, tenantId })
  return person.id
}

/** Limits that tests do not reach by accident. */
export const generousLimits = { SVC_COMMS_EMIT_BURST: '1000000', SVC_COMMS_PUBLISH_BURST: '1000000' }

export const commsLayers = ['project', 'application', 'tenant', 'leaf'] as const
export type CommsLayer = (typeof commsLayers)[number]

/** Sets `comms.enabled` in one settings layer; null removes it. */
export async function setComms(
  { sql }: Pick<TestApp, 'sql'>,
  { id, applicationId, tenantId }: SeededProject,
  layer: CommsLayer,
  parts: Partial<Record<'backend' | 'frontend', string | null>>,
): Promise<void> {
  const tenant = layer === 'tenant' || layer === 'leaf' ? tenantId : null
  const application = layer === 'application' || layer === 'leaf' ? applicationId : null
  const [backend, frontend] = [parts.backend, parts.frontend].map((value) =>
    JSON.stringify({
      KeyValuePairs: typeof value === 'string' ? [{ Key: 'comms.enabled', Value: value }] : [],
    }),
  )
  await sql.query(
    `insert into settings (id, project_id, tenant_id, application_id, backend_module_config, frontend_module_config)
     values ($1, $2, $3, $4, $5, $6) on conflict (project_id, tenant_id, application_id) do update set
       backend_module_config = excluded.backend_module_config, frontend_module_config = excluded.frontend_module_config`,
    [randomUUID(), id, tenant, application, backend, frontend],
  )
}
