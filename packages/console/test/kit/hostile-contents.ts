// Texts that partners, backends and callers choose, with the names that try to harm a page: logged calls, notifications,
// failures of runs, and versions of backends.
import { seedMachineUser } from '@manager/harness/seed.ts'
import { seedEndpoint, seedEndpointAccess } from '../../../manager/test/kit/endpoints.ts'
import { seedCall } from '../../../manager/test/kit/esb-calls.ts'
import { seedNotifications } from '../../../manager/test/kit/inbox.ts'
import type { Scene } from './scene.ts'
import { seedRun } from './seed-runs.ts'

export type HostileContents = { endpoint: string; machineUser: string; call: string; run: string }
type Owner = { tenantId: string; applicationId: string; triggerId: string }

/** Inserts one object of each kind, whose texts are all the same. Returns their ids, and the key of the call. */
export async function seedHostileContents(
  { service, project, admin }: Pick<Scene, 'service' | 'project' | 'admin'>,
  text: string,
  { tenantId, applicationId, triggerId }: Owner,
): Promise<HostileContents> {
  const { sql } = service
  const { id: projectId, environmentId } = project
  const endpoint = await seedEndpoint(sql, project)
  await sql.query(
    `update endpoints set name = $2, description = $2, auth_type = 'Basic', auth_username = $2,
       url = 'https://partner.example/orders', transformation_template = $2 where id = $1`,
    [endpoint, text],
  )
  const { id: machineUser } = await seedMachineUser(sql, project)
  await sql.query('update machine_users set name = $2 where id = $1', [machineUser, text])
  await seedEndpointAccess(sql, { projectId, endpointId: endpoint, machineUserId: machineUser })
  const createdAt = new Date().toISOString()
  const headers = [{ name: text, value: text }]
  const callId = await seedCall(
    sql,
    { projectId, endpointId: endpoint, machineUserId: machineUser },
    {
      createdAt,
      requestId: 'r-hostile',
      sourceIp: text,
      path: text,
      targetUrl: text,
      responseStatus: 502,
      failure: text,
      requestHeaders: headers,
      requestBody: text,
      responseHeaders: headers,
      responseBody: text,
    },
  )
  const owned = { service, project: { ...project, applicationId } }
  const run = await seedRun(owned, { triggerId, environmentId, outcome: 'failed', failure: text })
  await seedNotifications(
    sql,
    { tenantId, applicationId },
    [admin],
    [{ title: text, body: text, link: text, severity: 'error' }],
  )
  await sql.query(
    `insert into backend_registrations (id, project_id, application_id, environment_id, machine_user_id, callback_url,
       callback_token, version)
     values (gen_random_uuid(), $1, $2, $3, $4, 'https://backend.example.com/run', '', $5)`,
    [projectId, project.applicationId, environmentId, machineUser, text],
  )
  return { endpoint, machineUser, call: `${Date.parse(createdAt)}-${callId}`, run }
}
