// Reads links: apps that are enabled for tenants, and machine users that may call endpoints.
import { type Connection, graphql } from '@manager/client'
import {
  type ListMachineUser2EndpointsResult,
  type ListTenant2ApplicationsResult,
  listMachineUser2EndpointsDocument,
  listTenant2ApplicationsDocument,
} from '@manager/client/documents'

export type TenantApp = ListTenant2ApplicationsResult['tenant2Applications'][number]
export type Caller = ListMachineUser2EndpointsResult['machineUser2endpoints'][number]

const pageSize = 100

/** Lists the apps of a tenant, or the tenants of an app. */
export const listTenantApps = (
  connection: Connection,
  owner: { tenantId: string } | { applicationId: string },
  signal: AbortSignal,
): Promise<TenantApp[]> =>
  readPages(async (pagination) => {
    const variables = { ...owner, pagination }
    const result = await graphql(connection, listTenant2ApplicationsDocument, variables, { signal })
    return result.tenant2Applications
  })

/** Lists the machine users that may call an endpoint. */
export const listCallers = (
  connection: Connection,
  endpoint: string,
  signal: AbortSignal,
): Promise<Caller[]> =>
  readPages(async (pagination) => {
    const variables = { endpoint, pagination }
    const result = await graphql(connection, listMachineUser2EndpointsDocument, variables, { signal })
    return result.machineUser2endpoints
  })

async function readPages<Row>(
  read: (pagination: { limit: number; offset: number }) => Promise<readonly Row[]>,
): Promise<Row[]> {
  const rows: Row[] = []
  for (let offset = 0; ; offset += pageSize) {
    const page = await read({ limit: pageSize, offset })
    rows.push(...page)
    if (page.length < pageSize) return rows
  }
}
