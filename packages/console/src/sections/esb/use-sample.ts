// The sample body of a preview: the body of a logged call, or a text of the person. The API has redacted logged bodies.
import { useState } from 'react'
import { useRead } from '../../api/requests.ts'
import { isUuid } from '../../app/ids.ts'
import { useListSearch } from '../../app/list-search.ts'
import { useCan } from '../../app/project.tsx'
import {
  type EsbSampleCallsResult,
  esbSampleBodyDocument,
  esbSampleCallsDocument,
} from '../../generated/documents.ts'
import type { Endpoint } from './endpoint-types.ts'
import { createSampleBody } from './template-problems.ts'

type SampleCall = EsbSampleCallsResult['esbAuditLogs'][number]
export type Sample = {
  readonly body: string
  /** The newest logged calls; undefined until they are read, or if the person may not read them. */
  readonly calls: readonly SampleCall[] | undefined
  /** The id of the call that the body comes from; null for a text of the person. */
  readonly callId: string | null
  /** Whether the log has no body of the chosen call. */
  readonly isMissing: boolean
  readonly error: Error | null
  readonly setBody: (body: string) => void
  readonly chooseCall: (id: string | null) => void
}

export function useSample({ id: endpoint, application, inputMessageType }: Endpoint): Sample {
  const { search, setFilter } = useListSearch()
  const canRead = useCan('ESB_AUDIT_READ')
  const [typed, setTyped] = useState<string | null>(null)
  const named = search['call'] ?? ''
  const callId = canRead && isUuid(named) ? named : null
  const of = { application: application.id, endpoint }
  const calls = useRead(esbSampleCallsDocument, of, { isEnabled: canRead })
  const chosen = useRead(
    esbSampleBodyDocument,
    { ...of, id: callId ?? '' },
    { isEnabled: callId !== null, isSensitive: true },
  )
  const logged = callId === null ? undefined : chosen.data?.esbAuditLogs[0]
  const loggedBody = logged?.requestBody ?? null
  return {
    body: typed ?? loggedBody ?? createSampleBody(inputMessageType),
    calls: calls.data?.esbAuditLogs,
    callId,
    isMissing: callId !== null && chosen.data !== undefined && loggedBody === null,
    error: calls.error ?? chosen.error,
    setBody: setTyped,
    chooseCall: (next) => {
      setTyped(null)
      setFilter({ call: next ?? undefined })
    },
  }
}
