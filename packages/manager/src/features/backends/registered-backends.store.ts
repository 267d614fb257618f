import { sql } from 'kysely'
import type { Reads } from '../../platform/postgres/handles.ts'
import type { ListFields, Page } from '../../platform/lists/filters.ts'
import { fetchPage } from '../../platform/lists/page.ts'

export type RegisteredBackend = {
  id: string
  projectId: string
  applicationId: string
  environmentId: string
  machineUserId: string
  callbackUrl: string
  version: string
  lastHeartbeat: string
  createdAt: string
}

const columns = [
  ...(['id', 'projectId', 'applicationId', 'environmentId', 'machineUserId'] as const),
  ...(['callbackUrl', 'version', 'lastHeartbeat', 'createdAt'] as const),
]

/** The callback URL is not listed: its path can contain a secret, which filters could probe. */
export const backendFields: ListFields = {
  id: { column: 'id', match: 'id' },
  environmentId: { column: 'environmentId', match: 'id' },
  machineUserId: { column: 'machineUserId', match: 'id' },
  version: { column: 'version', match: 'text' },
  lastHeartbeat: { column: 'lastHeartbeat', match: 'time' },
  registeredAt: { column: 'createdAt', match: 'time' },
}

/** Returns a page of the backends of an application, in one environment or in all environments. */
export function listRegisteredBackends(
  db: Reads,
  { applicationId, environmentId }: { applicationId: string; environmentId: string | null },
  page: Page,
): Promise<RegisteredBackend[]> {
  const applicationCondition = sql<boolean>`backend_registrations.application_id = ${applicationId}`
  const where =
    environmentId === null
      ? applicationCondition
      : sql<boolean>`${applicationCondition} and backend_registrations.environment_id = ${environmentId}`
  return fetchPage(db, { table: 'backendRegistrations', columns, page, where })
}
