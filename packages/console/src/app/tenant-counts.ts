// The numbers of enabled applications and members per tenant, for lists of tenants.
import { useMemo } from 'react'
import { useBatchedReads } from '../api/batched-reads.ts'
import type { Permission } from '../generated/documents.ts'

export type CountedTenant = { readonly id: string; readonly myPermissions: readonly Permission[] }
type Total = { readonly totalCount: number }
export type TenantCounts = { readonly applications: number | null; readonly members: number | null }

const applications =
  'tenant2ApplicationsConnection(tenantId: $id, filters: [{ field: "enabled", value: "true" }], pagination: { limit: 1, offset: 0 }) { totalCount }'
const members = 'user2tenantsConnection(tenant: $id, pagination: { limit: 1, offset: 0 }) { totalCount }'

/** Returns the counts by tenant id. A count is null while it is unknown, or if the caller may not read it. */
export function useTenantCounts(tenants: readonly CountedTenant[]): ReadonlyMap<string, TenantCounts> {
  const listIds = (permission: Permission): string[] =>
    tenants.filter(({ myPermissions }) => myPermissions.includes(permission)).map(({ id }) => id)
  const applicationCounts = useBatchedReads<{ total: Total }>({
    name: 'tenant-application-counts',
    ids: listIds('TENANT2APPLICATION_READ'),
    fields: { total: applications },
  }).data
  const memberCounts = useBatchedReads<{ total: Total }>({
    name: 'tenant-member-counts',
    ids: listIds('TENANT_MEMBER_READ'),
    fields: { total: members },
  }).data
  return useMemo(
    () =>
      new Map(
        tenants.map(({ id }) => [
          id,
          {
            applications: applicationCounts?.get(id)?.total.totalCount ?? null,
            members: memberCounts?.get(id)?.total.totalCount ?? null,
          },
        ]),
      ),
    [tenants, applicationCounts, memberCounts],
  )
}
