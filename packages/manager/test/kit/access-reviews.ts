// Test helpers for access reviews: fetch the report and its entries, and attest them.
import { type Person, headersOf } from '@manager/harness/callers.ts'
import type { TestApp } from './app.ts'
import { type JsonAnswer, call } from '@manager/harness/credentials.ts'

export type ReviewEntry = {
  entry_id: string
  principal_type: string
  principal_id: string
  name: string
  email: string
  scope_type: string
  scope_id: string | null
  scope_name: string
  project_id: string | null
  role: string
  enabled: boolean
  granted_at: string | null
  granted_by: string | null
  last_activity_at: string | null
  expires_at: string | null
  flags: string[]
  recommendation: string
  last_attestation: Record<string, unknown> | null
}
export type Review = {
  report_id: string
  generated_at: string
  scope: { type: string; id?: string; name?: string }
  population_hash: string
  // oxlint-disable-next-line typescript/no-explicit-any -- tests compare the summary as a whole
  summary: any
  entries: ReviewEntry[]
  chain: Record<string, unknown>
}

export const reviewPath = '/api/access/review'
export const attestPath = '/api/access/review/attest'

/** Creates the calls. `service` is read on each call, because it starts in `beforeAll`. */
export function reviewCalls(service: () => TestApp) {
  const ask = (person: Person, query = '', headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${service().url}${reviewPath}${query}`, { headers: { ...headersOf(person), ...headers } })
  const read = async (person: Person, query = ''): Promise<Review> => {
    const response = await ask(person, query)
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
    return (await response.json()) as Review
  }
  return {
    ask,
    read,
    attest: (person: Person, body: object): Promise<JsonAnswer> =>
      call(service().url, attestPath, headersOf(person), body),
    of: ({ entries }: Review, principalId: string): ReviewEntry[] =>
      entries.filter(({ principal_id }) => principal_id === principalId),
  }
}
