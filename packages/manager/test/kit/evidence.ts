// Evidence as administrators get it.
import { type Person, headersOf } from '@manager/harness/callers.ts'
import type { TestApp } from './app.ts'
import { type JsonAnswer, call } from '@manager/harness/credentials.ts'

export type EvidenceRow = Record<string, unknown>
export type Window = { from?: string; to?: string }

const hourMs = 3_600_000
/** From an hour ago to in an hour. */
export const aroundNow = (): Required<Window> => ({
  from: new Date(Date.now() - hourMs).toISOString(),
  to: new Date(Date.now() + hourMs).toISOString(),
})

/** One run of a query. */
export const runEvidence = (
  { url }: Pick<TestApp, 'url'>,
  person: Person,
  name: string,
  window: Window = {},
): Promise<JsonAnswer> => {
  const query = new URLSearchParams(Object.entries(window)).toString()
  return call(url, `/api/audit/evidence/${name}${query === '' ? '' : `?${query}`}`, headersOf(person))
}

/** The rows of a run that is known to work. */
export async function evidenceRows(
  service: Pick<TestApp, 'url'>,
  person: Person,
  name: string,
  window: Window = aroundNow(),
): Promise<EvidenceRow[]> {
  const { status, body } = await runEvidence(service, person, name, window)
  if (status !== 200) throw new Error(`${name} answered ${status} ${JSON.stringify(body)}`)
  return body.rows as EvidenceRow[]
}
