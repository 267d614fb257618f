// Backend registration calls over HTTP, and direct access to the rows that they store.
import type { Pool } from 'pg'
import type { Service } from './callers.ts'
import { type JsonAnswer, bearer } from './credentials.ts'

export const callbackUrl = 'https://backend.example.com/hooks/run'

type Sent = { method: string; path: string; token: string; body?: unknown }

/** Sends one request as a machine user and parses the JSON response. */
export async function callAsMachine(
  { url }: Service,
  { method, path, token, body }: Sent,
): Promise<JsonAnswer> {
  const response = await fetch(`${url}/api/machine${path}`, {
    method,
    headers: { ...bearer(token), ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: await response.json(), headers: response.headers }
}

export const register = (service: Service, token: string, body: unknown): Promise<JsonAnswer> =>
  callAsMachine(service, { method: 'POST', path: '/register-backend', token, body })
export const heartbeat = (service: Service, token: string, id: string): Promise<JsonAnswer> =>
  callAsMachine(service, { method: 'PUT', path: `/backend/${id}/heartbeat`, token })
export const unregister = (service: Service, token: string, id: string): Promise<JsonAnswer> =>
  callAsMachine(service, { method: 'DELETE', path: `/backend/${id}`, token })

export type StoredBackend = {
  id: string
  application_id: string
  environment_id: string
  machine_user_id: string
  callback_url: string
  callback_token: Buffer
  signing_secret: Buffer | null
  version: string
  updated_at: Date
  last_heartbeat: Date
}
/** Reads the stored row of a registration; returns undefined if it does not exist. */
export const readStoredBackend = async ({ sql }: { sql: Pool }, id: string) =>
  (await sql.query<StoredBackend>('select * from backend_registrations where id = $1', [id])).rows[0]

/** Backdates the last heartbeat by the interval `ago`. */
export const backdateHeartbeat = ({ sql }: { sql: Pool }, id: string, ago: string) =>
  sql.query('update backend_registrations set last_heartbeat = now() - $2::interval where id = $1', [id, ago])
