// Why a call failed. The Manager records the reason as an English sentence; the console maps it to an explanation in the
// language of the page.

/** The steps of a call, in their order. */
export const steps = ['access', 'target', 'body', 'template', 'upstream', 'relay'] as const
export type Step = (typeof steps)[number]

/** The step at which a call stopped, for each reason. */
const stepOf = {
  noAccess: 'access',
  noUrl: 'target',
  loop: 'target',
  transferEncoding: 'body',
  bodyTooLarge: 'body',
  bodyTooSlow: 'body',
  wrongBody: 'body',
  template: 'template',
  busy: 'template',
  tooManyCalls: 'upstream',
  refused: 'upstream',
  unresolved: 'upstream',
  unreachable: 'upstream',
  forbiddenAddress: 'upstream',
  untrusted: 'upstream',
  expired: 'upstream',
  otherName: 'upstream',
  plainPort: 'upstream',
  tlsPort: 'upstream',
  handshake: 'upstream',
  timeout: 'upstream',
  tooLarge: 'upstream',
  invalidResponse: 'upstream',
  unsendable: 'upstream',
  stopping: 'upstream',
  partnerError: 'relay',
  partnerRefusal: 'relay',
  callerLeft: 'relay',
  callerSlow: 'relay',
  internal: 'upstream',
  other: 'upstream',
} as const satisfies Record<string, Step>
export type Reason = keyof typeof stepOf

const exact: Readonly<Record<string, Reason>> = {
  'the machine user has no access to this endpoint': 'noAccess',
  'the endpoint has no url to forward to': 'noUrl',
  'loop detected: the endpoint leads back to the gateway': 'loop',
  'Transfer-Encoding must be chunked, or absent': 'transferEncoding',
  'the request body arrived too slowly': 'bodyTooSlow',
  'too many large bodies are being transformed; try again': 'busy',
  'too many transformations are in progress; try again': 'busy',
  'too many calls to this endpoint are in flight; try again': 'tooManyCalls',
  'the upstream refuses connections': 'refused',
  'the name of the upstream cannot be resolved': 'unresolved',
  'the upstream cannot be reached': 'unreachable',
  'the address of the upstream is not allowed': 'forbiddenAddress',
  'the certificate of the upstream is not trusted': 'untrusted',
  'the certificate of the upstream has expired': 'expired',
  'the certificate of the upstream is for another name': 'otherName',
  'the upstream does not use TLS on this port; use http:// or another port': 'plainPort',
  'the upstream requires TLS; use https:// or another port': 'tlsPort',
  'the upstream closed the connection during the TLS handshake': 'handshake',
  'the TLS connection to the upstream failed': 'handshake',
  'the upstream timed out': 'timeout',
  'the upstream response is too large': 'tooLarge',
  'the upstream response headers are too large': 'tooLarge',
  'the upstream response is incomplete or invalid': 'invalidResponse',
  'the upstream response length does not match its Content-Length': 'invalidResponse',
  'the upstream response has invalid headers': 'invalidResponse',
  'the upstream response has an unsupported transfer encoding': 'invalidResponse',
  'the upstream sent too many interim responses': 'invalidResponse',
  'the service is closing its connections': 'stopping',
  'the request cannot be sent to the upstream': 'unsendable',
  'the request body length does not match its Content-Length': 'unsendable',
  'the caller closed the connection': 'callerLeft',
  'the caller read the response too slowly': 'callerSlow',
  'internal error': 'internal',
}
const starts: readonly (readonly [string, Reason])[] = [
  ['the request body is larger than ', 'bodyTooLarge'],
  ['the body is not ', 'wrongBody'],
  ['the transformation template', 'template'],
]

type Result = { readonly responseStatus: number | null; readonly failure: string | null }

/** Returns the reason for the failure of a call; null if the call did not fail or has not ended. */
export function findReason({ responseStatus, failure }: Result): Reason | null {
  if (failure === null) {
    if (responseStatus === null || responseStatus < 400) return null
    return responseStatus >= 500 ? 'partnerError' : 'partnerRefusal'
  }
  if (Object.hasOwn(exact, failure)) return exact[failure] ?? 'other'
  return starts.find(([start]) => failure.startsWith(start))?.[1] ?? 'other'
}

export const findStep = (reason: Reason): Step => stepOf[reason]

/** Reasons that are known before the connection to the partner exists. */
const neverSent: ReadonlySet<Reason> = new Set([
  'tooManyCalls',
  'refused',
  'unresolved',
  'forbiddenAddress',
  'untrusted',
  'expired',
  'otherName',
  'plainPort',
  'tlsPort',
  'handshake',
])

/** Returns whether the partner may have received the call, so that repeating it could repeat its effect. */
export function mayHaveArrived(reason: Reason): boolean {
  const step = findStep(reason)
  return step === 'relay' || (step === 'upstream' && !neverSent.has(reason))
}
