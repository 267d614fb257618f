// Reads the endpoints of a project: all of one application, or the first ones of every application.
import { useMemo } from 'react'
import { useAllRows } from '../../api/all-rows.ts'
import { useBatchedReads } from '../../api/batched-reads.ts'
import { type ApplicationName, useApplicationNames } from '../../app/applications.ts'
import { esbEndpointsDocument } from '../../generated/documents.ts'
import type { EndpointRow, ListedEndpoint } from './endpoint-types.ts'

/** The number of endpoints that the list of all applications shows of each of them. */
export const maxPerApplication = 100

const fields = {
  endpoints: `endpoints(application: $id, order: [{ field: "name" }], pagination: { limit: ${maxPerApplication}, offset: 0 }) { id name enabled consumeURL url authType inputMessageType outputMessageType logLevel updatedAt revision }`,
}

export type EndpointsRead = {
  readonly rows: readonly EndpointRow[] | undefined
  /** False if an application has more endpoints than were read. */
  readonly isComplete: boolean
  readonly applications: readonly ApplicationName[] | undefined
  readonly error: Error | null
  readonly refetch: () => void
}

const noIds: readonly string[] = []
const addApplication = (endpoints: readonly ListedEndpoint[], application: EndpointRow['application']) =>
  endpoints.map((endpoint): EndpointRow => ({ ...endpoint, application }))

export function useEndpoints(applicationId: string | null): EndpointsRead {
  const names = useApplicationNames()
  const applications = names.data?.rows
  const chosen = applications?.find(({ id }) => id === applicationId)
  const one = useAllRows(
    {
      document: esbEndpointsDocument,
      variables: { application: chosen?.id ?? '' },
      select: (result) => result.endpointsConnection,
    },
    { isEnabled: chosen !== undefined },
  )
  const isAll = applicationId === null
  const all = useBatchedReads<{ endpoints: readonly ListedEndpoint[] }>({
    name: 'esb-endpoints',
    ids: useMemo(
      () => (isAll ? applications?.map(({ id }) => id) : undefined) ?? noIds,
      [isAll, applications],
    ),
    fields,
  })
  const rows = useMemo(() => {
    if (applications === undefined) return undefined
    // The address can name an application of another project.
    if (isAll ? applications.length === 0 : chosen === undefined) return []
    if (chosen !== undefined)
      return one.data === undefined ? undefined : addApplication(one.data.rows, chosen)
    if (all.data === undefined) return undefined
    return applications.flatMap((application) =>
      addApplication(all.data.get(application.id)?.endpoints ?? [], application),
    )
  }, [applications, isAll, chosen, one.data, all.data])
  const listed = [...(all.data?.values() ?? [])]
  return {
    rows,
    isComplete: isAll
      ? names.data?.isComplete !== false &&
        listed.every(({ endpoints }) => endpoints.length < maxPerApplication)
      : one.data?.isComplete !== false,
    applications,
    error: names.error ?? one.error ?? all.error,
    refetch: () => {
      for (const read of [names, one, all]) if (read.isError) void read.refetch()
    },
  }
}
