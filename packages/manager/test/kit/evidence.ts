// Requests evidence reports as an administrator.
import { type Person, headersOf } from '@manager/harness/callers.ts'
import type { TestApp } from './app.ts'
import { type JsonAnswer, call } from '@manager/harness/credentials.ts'

export type EvidenceRow = Record<string, unknown>
export type Window = { from?: string; to?: string }

const hourMs = 3_600_000
/** Returns a window from one hour ago to one hour from now. */
export const aroundNow = (): Required<Window> => ({
  from: new Date(Date.now() - hourMs).toISOString(),
  to: new Date(Date.now() + hourMs).toISOString(),
})

/** Runs one evidence query. */
export const runEvidence = (
  { url }: Pick<TestApp, 'url'>,
  person: Person,
  name: string,
  window: Window = {},
): Promise<JsonAnswer> => {
  const query = new URLSearchParams(Object.entries(window)).toString()
  return call(url, `/api/audit/evidence/${name}${query === '' ? '' : `?${query}`}`, headersOf(person))
}

/** Returns the rows of a query and throws if it fails. */
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
