// The evidence queries of the API, and their runs.
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { sendForJson } from '@manager/client'
import { connection } from '../../api/connection.ts'
import { readLargeJson } from '../../api/large-body.ts'

export type EvidenceQuery = {
  readonly name: string
  readonly title: string
  readonly description: string
  /** Requirements of well-known frameworks for which the rows are evidence. */
  readonly controls: readonly string[]
}

export type EvidenceRow = Readonly<Record<string, unknown>>

export type ChainVerdict = {
  readonly status: 'ok' | 'broken' | 'empty'
  readonly entries: number
  readonly reason: string | null
  readonly verified_at: string
}

export type EvidenceRun = {
  readonly name: string
  readonly from: string
  readonly to: string
  /** Time of the snapshot that contains all rows. */
  readonly generated_at: string
  readonly columns: readonly string[]
  readonly rows: readonly EvidenceRow[]
  /** True if more rows exist than a run returns. */
  readonly truncated: boolean
  readonly chain: ChainVerdict
}

/** The window of a run; null for the default of the API. */
export type EvidenceWindow = { readonly from: string | null; readonly to: string | null }

const path = '/api/audit/evidence'
/** A browser cannot show more in reasonable time; the CSV has all rows. */
const maxBytes = 64_000_000

export const useEvidenceQueries = (): UseQueryResult<readonly EvidenceQuery[]> =>
  useQuery({
    queryKey: ['evidence-queries'],
    queryFn: async ({ signal }) => {
      const { queries } = await sendForJson<{ queries: readonly EvidenceQuery[] }>(connection, {
        method: 'GET',
        path,
        signal,
      })
      return queries
    },
    staleTime: Infinity,
  })

/** Returns the address of a run. Parameters that are null have the default of the API. */
export function toRunPath(name: string, { from, to }: EvidenceWindow, format: 'json' | 'csv'): string {
  const search = new URLSearchParams({ format })
  if (from !== null) search.set('from', from)
  if (to !== null) search.set('to', to)
  return `${path}/${encodeURIComponent(name)}?${search.toString()}`
}

/**
 * Runs a query. The Manager records every run in the audit trail, so a run is repeated only on request: `static` keeps
 * the result when another change reads all data of the page again.
 */
export const useEvidenceRun = (name: string, { from, to }: EvidenceWindow): UseQueryResult<EvidenceRun> =>
  useQuery({
    queryKey: ['evidence-run', name, from, to],
    queryFn: ({ signal }) =>
      readLargeJson<EvidenceRun>({ path: toRunPath(name, { from, to }, 'json'), signal, maxBytes }),
    staleTime: 'static',
    retryOnMount: false,
    refetchOnReconnect: false,
  })
