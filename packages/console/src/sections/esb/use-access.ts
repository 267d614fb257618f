// Reads which machine users may call an endpoint.
import type { UseQueryResult } from '@tanstack/react-query'
import { useRead } from '../../api/requests.ts'
import { type EsbAccessResult, esbAccessDocument } from '../../generated/documents.ts'

export const maxAccessRows = 100

export const useAccess = (endpoint: string): UseQueryResult<EsbAccessResult> =>
  useRead(esbAccessDocument, { endpoint, pagination: { limit: maxAccessRows, offset: 0 } })
