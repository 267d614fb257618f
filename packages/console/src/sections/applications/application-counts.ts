// The numbers of tenants, endpoints, triggers and live backends per application.
import { useMemo } from 'react'
import type { UseQueryResult } from '@tanstack/react-query'
import { useBatchedReads } from '../../api/batched-reads.ts'
import { useCan } from '../../app/project.tsx'

type Total = { readonly totalCount: number }
type ApplicationCounts = {
  readonly tenants: Total
  readonly endpoints: Total
  readonly triggers: Total
  readonly backends: readonly { readonly isLive: boolean }[]
}

const onePage = 'pagination: { limit: 1, offset: 0 }'
const fields = {
  tenants: `tenant2ApplicationsConnection(applicationId: $id, filters: [{ field: "enabled", value: "true" }], ${onePage}) { totalCount }`,
  endpoints: `endpointsConnection(application: $id, ${onePage}) { totalCount }`,
  triggers: `triggersConnection(application: $id, ${onePage}) { totalCount }`,
  backends: 'backends(applicationId: $id, pagination: { limit: 100, offset: 0 }) { isLive }',
}

/** Reads the counts by application id, if the caller may read them. */
export function useApplicationCounts(
  applications: readonly { readonly id: string }[],
): UseQueryResult<ReadonlyMap<string, ApplicationCounts>> {
  const ids = useMemo(() => applications.map(({ id }) => id), [applications])
  // All of these numbers require a role in the project.
  const isEnabled = useCan('BACKEND_READ')
  return useBatchedReads<ApplicationCounts>({ name: 'application-counts', ids, fields, isEnabled })
}
