// Reads one endpoint. The address names only the endpoint, and the API needs its application too, so the search looks it
// up. Endpoints of other projects are not found.
import { GraphqlError } from '@manager/client'
import { useRead } from '../../api/requests.ts'
import { useProject } from '../../app/project.tsx'
import { esbEndpointDocument, esbFindEndpointDocument } from '../../generated/documents.ts'
import type { Endpoint } from './endpoint-types.ts'

const missing = new GraphqlError([
  { message: 'the endpoint does not exist', extensions: { code: 'not_found' } },
])

type EndpointRead = {
  readonly endpoint: Endpoint | undefined
  readonly error: Error | null
  readonly refetch: () => void
}

/** `applicationId` is the application of the endpoint, if the page knows it already. */
export function useEndpoint(id: string, applicationId?: string): EndpointRead {
  const project = useProject()
  const found = useRead(
    esbFindEndpointDocument,
    { id, project: project.id },
    { isEnabled: applicationId === undefined },
  )
  const foundId = found.data?.search.hits.find((hit) => hit.id === id)?.applicationId ?? undefined
  const application = applicationId ?? foundId
  const read = useRead(
    esbEndpointDocument,
    { application: application ?? '', id },
    { isEnabled: application !== undefined },
  )
  const isMissing = found.data !== undefined && application === undefined
  return {
    endpoint: read.data?.endpoint,
    error: isMissing ? missing : (found.error ?? read.error),
    refetch: () => void (application === undefined ? found.refetch() : read.refetch()),
  }
}
