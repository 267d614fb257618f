// The numbers of tenants, endpoints, triggers and live backends per application.
import { useMemo } from 'react'
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

/** Returns the counts by application id; undefined while they are loading, or if the caller may not read them. */
export function useApplicationCounts(
  applications: readonly { readonly id: string }[],
): ReadonlyMap<string, ApplicationCounts> | undefined {
  const ids = useMemo(() => applications.map(({ id }) => id), [applications])
  // All of these numbers require a role in the project.
  const isEnabled = useCan('BACKEND_READ')
  return useBatchedReads<ApplicationCounts>({ name: 'application-counts', ids, fields, isEnabled }).data
}
