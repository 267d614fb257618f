// The outcome of a run, and the reason for a failure, in the language of the page.
import type { StatusKind } from '../../kit/badge.tsx'
import type { Translate } from '../../texts/texts.ts'

const outcomes = {
  pending: 'pending',
  delivered: 'ok',
  failed: 'danger',
  cancelled: 'off',
  skipped_no_backend: 'off',
  skipped_overlap: 'off',
  missed: 'warn',
} as const satisfies Record<string, StatusKind>
export type Outcome = keyof typeof outcomes
export const outcomeNames = Object.keys(outcomes) as Outcome[]

/** Null for an outcome of a newer version of the Manager. */
export const toOutcome = (text: string | undefined): Outcome | null =>
  outcomeNames.find((name) => name === text) ?? null

export function describeOutcome(text: string, t: Translate): { kind: StatusKind; word: string } {
  const outcome = toOutcome(text)
  return outcome === null
    ? { kind: 'off', word: text }
    : { kind: outcomes[outcome], word: t(`triggers.outcome.${outcome}`) }
}

/** The reasons that the Manager records, by their message. */
const reasons = {
  'no backend is live': 'notLive',
  'the trigger was disabled': 'disabled',
  'the processes that delivered the run stopped too often': 'stopped',
  'the address of the upstream is not allowed': 'address',
  'the upstream closed the connection during the TLS handshake': 'handshake',
  'the upstream requires TLS; use https:// or another port': 'needsTls',
  'the upstream does not use TLS on this port; use http:// or another port': 'noTls',
  'the TLS connection to the upstream failed': 'tls',
  'the upstream response is incomplete or invalid': 'invalid',
  'the upstream refuses connections': 'refused',
  'the name of the upstream cannot be resolved': 'name',
  'the upstream cannot be reached': 'unreachable',
  'the upstream timed out': 'timeout',
  'the upstream response headers are too large': 'headers',
  'the upstream response is too large': 'large',
  'the upstream sent too many interim responses': 'interim',
  'the upstream response length does not match its Content-Length': 'length',
  'the request cannot be sent to the upstream': 'request',
  'the certificate of the upstream is not trusted': 'untrusted',
  'the certificate of the upstream has expired': 'expired',
  'the certificate of the upstream is for another name': 'certificateName',
  'too many calls to the upstream are in flight': 'busy',
  'the service is closing its connections': 'closing',
  'the call was aborted': 'aborted',
} as const
type Reason = (typeof reasons)[keyof typeof reasons]
const keys: ReadonlyMap<string, Reason> = new Map(Object.entries(reasons))

type Ended = { readonly outcome: string; readonly failure: string | null }

/** Returns the reason why a run was not delivered, or why its last attempt failed; null if there is none. */
export function describeReason({ outcome, failure }: Ended, t: Translate): string | null {
  if (failure === null) {
    const isUnsent = outcome === 'skipped_no_backend' || outcome === 'skipped_overlap' || outcome === 'missed'
    return isUnsent ? t(`triggers.reason.${outcome}`) : null
  }
  const [, status] = /^the backend returned (\d{3})$/.exec(failure) ?? []
  if (status !== undefined) return t('triggers.failure.returned', status)
  const key = keys.get(failure)
  // A message of a newer version is shown unchanged.
  return key === undefined ? failure : t(`triggers.failure.${key}`)
}
