// Reads the access review report.
import { readLargeJson } from '../../api/large-body.ts'
import { type Report, systemScope } from './report.ts'

// About 100,000 entries. A browser cannot show more of them in reasonable time.
const maxBytes = 64_000_000

/** Generates a report. The Manager records each report in the audit trail. */
export function readReport(
  scope: string,
  options: { signal: AbortSignal; onBytes: (bytes: number) => void },
): Promise<Report> {
  const search = new URLSearchParams({ format: 'json' })
  if (scope !== systemScope) search.set('project_id', scope)
  return readLargeJson<Report>({ path: `/api/access/review?${search.toString()}`, maxBytes, ...options })
}
