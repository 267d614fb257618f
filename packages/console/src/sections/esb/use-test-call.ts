// Sends a test call, unless the endpoint has changed since the person confirmed the call.
import { GraphqlError, graphql } from '@manager/client'
import { connection } from '../../api/connection.ts'
import { type SecretChange, useSecretChange } from '../../api/secret-change.ts'
import {
  type EsbTestCallResult,
  type EsbTestCallVariables,
  esbEndpointDocument,
  esbTestCallDocument,
} from '../../generated/documents.ts'
import type { Endpoint } from './endpoint-types.ts'
import { useAccess } from './use-access.ts'

/** Lists the access to the endpoint, and the machine users that may call it; undefined until they are read. */
export function useCallers(endpointId: string) {
  const { data, error } = useAccess(endpointId)
  const rows = data?.machineUser2endpointsConnection.nodes
  const callers = rows
    ?.filter(({ enabled, machineUser }) => enabled && machineUser.enabled)
    .map(({ machineUser }) => machineUser)
    .toSorted((a, b) => a.name.localeCompare(b.name))
  return { rows, callers, error }
}

/** Throws if another person has changed the endpoint, because the confirmation may name the wrong partner. */
async function expectUnchanged({ id, application, revision }: Endpoint): Promise<void> {
  const { endpoint } = await graphql(connection, esbEndpointDocument, { application: application.id, id })
  if (endpoint.revision !== revision)
    throw new GraphqlError([{ message: 'the endpoint has changed', extensions: { code: 'CONFLICT' } }])
}

/** `confirmed` is the endpoint as the person has seen it. */
export const useTestCall = (
  confirmed: Endpoint,
): SecretChange<EsbTestCallVariables, EsbTestCallResult['testEndpoint']> =>
  useSecretChange(
    esbTestCallDocument,
    ({ testEndpoint }) => testEndpoint,
    () => expectUnchanged(confirmed),
  )
