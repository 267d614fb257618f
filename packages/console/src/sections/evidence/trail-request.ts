// The request for an export of the audit trail, and the check of its last line.
export type TrailFormat = 'ndjson' | 'csv'
export type TrailRequest = { readonly path: string; readonly fileName: string; readonly format: TrailFormat }

type Range = { readonly from: string | null; readonly to: string | null }

export function createTrailRequest(format: TrailFormat, { from, to }: Range): TrailRequest {
  const search = new URLSearchParams({ format })
  if (from !== null) search.set('from', from)
  if (to !== null) search.set('to', to)
  return { format, path: `/api/audit/export?${search.toString()}`, fileName: `audit-trail.${format}` }
}

/** Returns the number of entries in the signed last line of an NDJSON export; null if the line is missing. */
export function readSignedCount(end: string): number | null {
  const line = end.trimEnd().split('\n').at(-1) ?? ''
  if (!line.startsWith('{"export":')) return null
  try {
    const { export: signed } = JSON.parse(line) as { export?: { count?: unknown; signature?: unknown } }
    return typeof signed?.count === 'number' && typeof signed.signature === 'string' ? signed.count : null
  } catch {
    return null
  }
}
