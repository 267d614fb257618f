// The endpoints of all applications of a project, and which of them a machine user may call. The API lists the access of
// each endpoint, so the rows of one machine user are read for many endpoints in one request.
import { useMemo } from 'react'
import { useBatchedReads } from '../../api/batched-reads.ts'
import { useApplicationNames } from '../../app/applications.ts'
import { useCan } from '../../app/project.tsx'

const maxEndpoints = 100
type Endpoint = {
  readonly id: string
  readonly name: string
  readonly consumeURL: string
  readonly enabled: boolean
}
type AccessRow = {
  readonly id: string
  readonly enabled: boolean
  readonly updatedAt: string
  readonly revision: number
}
export type EndpointAccess = {
  readonly endpoint: Endpoint
  readonly application: { readonly id: string; readonly name: string }
  /** Null if the machine user never had access to the endpoint. */
  readonly row: AccessRow | null
}
export type EndpointAccessRead = {
  readonly items: readonly EndpointAccess[] | undefined
  /** False if an application has more endpoints than the list. */
  readonly isComplete: boolean
  readonly error: Error | null
  readonly refetch: () => void
}

const endpointFields = {
  endpoints: `endpoints(application: $id, order: [{ field: "name" }], pagination: { limit: ${maxEndpoints}, offset: 0 }) { id name consumeURL enabled }`,
}
const rowFields = {
  rows: 'machineUser2endpoints(endpoint: $id, filters: [{ field: "machineUserId", value: $machineUser }], pagination: { limit: 1, offset: 0 }) { id enabled updatedAt revision }',
}

/** Returns whether the caller may read the endpoints and the access to them. */
export function useCanReadAccess(): boolean {
  const canReadEndpoints = useCan('ENDPOINT_READ')
  return useCan('ENDPOINT_ACCESS_READ') && canReadEndpoints
}

export function useEndpointAccess(machineUserId: string): EndpointAccessRead {
  const isEnabled = useCanReadAccess()
  const names = useApplicationNames()
  const applications = names.data?.rows
  const endpoints = useBatchedReads<{ endpoints: readonly Endpoint[] }>({
    name: 'application-endpoints',
    ids: useMemo(() => (applications ?? []).map(({ id }) => id), [applications]),
    fields: endpointFields,
    isEnabled,
  })
  const ids = useMemo(
    () => [...(endpoints.data?.values() ?? [])].flatMap((values) => values.endpoints.map(({ id }) => id)),
    [endpoints.data],
  )
  const rows = useBatchedReads<{ rows: readonly AccessRow[] }>({
    name: 'endpoint-access-of-machine-user',
    ids,
    fields: rowFields,
    texts: useMemo(() => ({ machineUser: machineUserId }), [machineUserId]),
    isEnabled,
  })
  const items = useMemo(() => {
    if (applications?.length === 0) return []
    if (applications === undefined || endpoints.data === undefined) return undefined
    if (ids.length > 0 && rows.data === undefined) return undefined
    return applications.flatMap((application) =>
      (endpoints.data.get(application.id)?.endpoints ?? []).map((endpoint): EndpointAccess => ({
        endpoint,
        application,
        row: rows.data?.get(endpoint.id)?.rows[0] ?? null,
      })),
    )
  }, [applications, endpoints.data, ids, rows.data])
  return {
    items,
    isComplete: [...(endpoints.data?.values() ?? [])].every(
      ({ endpoints: list }) => list.length < maxEndpoints,
    ),
    error: names.error ?? endpoints.error ?? rows.error,
    refetch: () => {
      for (const read of [names, endpoints, rows]) if (read.isError) void read.refetch()
    },
  }
}
