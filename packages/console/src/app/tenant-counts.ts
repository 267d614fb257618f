// The numbers of enabled applications and members per tenant, for lists of tenants.
import { useCallback, useMemo } from 'react'
import type { UseQueryResult } from '@tanstack/react-query'
import { useBatchedReads } from '../api/batched-reads.ts'
import type { Permission } from '../generated/documents.ts'

export type CountedTenant = { readonly id: string; readonly myPermissions: readonly Permission[] }
type Total = { readonly totalCount: number }
/** A count is undefined while it is loading, and null if the caller may not read it. */
type Count = number | null | undefined
export type TenantCounts = { readonly applications: Count; readonly members: Count }

const applications =
  'tenant2ApplicationsConnection(tenantId: $id, filters: [{ field: "enabled", value: "true" }], pagination: { limit: 1, offset: 0 }) { totalCount }'
const members = 'user2tenantsConnection(tenant: $id, pagination: { limit: 1, offset: 0 }) { totalCount }'

/** Returns a function that finds the count of a tenant. */
function useFindCount({ data, isLoading }: UseQueryResult<ReadonlyMap<string, { total: Total }>>) {
  return useCallback(
    (id: string): Count => data?.get(id)?.total.totalCount ?? (isLoading ? undefined : null),
    [data, isLoading],
  )
}

/** Returns the counts by tenant id. */
export function useTenantCounts(tenants: readonly CountedTenant[]): ReadonlyMap<string, TenantCounts> {
  const listIds = (permission: Permission): string[] =>
    tenants.filter(({ myPermissions }) => myPermissions.includes(permission)).map(({ id }) => id)
  const findApplications = useFindCount(
    useBatchedReads<{ total: Total }>({
      name: 'tenant-application-counts',
      ids: listIds('TENANT2APPLICATION_READ'),
      fields: { total: applications },
    }),
  )
  const findMembers = useFindCount(
    useBatchedReads<{ total: Total }>({
      name: 'tenant-member-counts',
      ids: listIds('TENANT_MEMBER_READ'),
      fields: { total: members },
    }),
  )
  return useMemo(
    () =>
      new Map(
        tenants.map(({ id }) => [
          id,
          {
            applications: findApplications(id),
            members: findMembers(id),
          },
        ]),
      ),
    [tenants, findApplications, findMembers],
  )
}
