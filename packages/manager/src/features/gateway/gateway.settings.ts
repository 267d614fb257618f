// The settings of the ESB gateway.
import { cidrList, duration, integer, setting } from '../../config/readers.ts'

export const gatewaySettings = {
  esbMaxResponseBytes: setting(integer(1_024, 1_073_741_824), {
    key: 'esb.max_response_bytes',
    env: 'SVC_ESB_MAX_RESPONSE_BYTES',
    default: 10 * 1_048_576,
    doc: 'Largest body of an upstream response, as it is transferred; a larger one fails the call with 502.',
  }),
  esbForwardTimeoutMs: setting(duration(100, 3_600_000), {
    key: 'esb.forward_timeout',
    env: 'SVC_ESB_FORWARD_TIMEOUT',
    default: 30_000,
    doc: 'How long a call may take from its forwarding to the last byte of the response, such as `30s` or `500ms`; then it fails with 502.',
  }),
  esbMaxCallsPerOrigin: setting(integer(1, 10_000), {
    key: 'esb.max_calls_per_origin',
    env: 'SVC_ESB_MAX_CALLS_PER_ORIGIN',
    default: 256,
    doc: 'Calls of one project that a process forwards at once to one scheme, host and port, each on its own connection; further ones are answered 503 with `Retry-After`, so that a slow partner delays only its own callers.',
  }),
  esbMaxBufferedBytes: setting(integer(1_048_576, 64 * 1_073_741_824), {
    key: 'esb.max_buffered_bytes',
    env: 'SVC_ESB_MAX_BUFFERED_BYTES',
    default: 128 * 1_048_576,
    doc: 'Request bodies a process holds at once to transform them, all together, as far as they have arrived; projects share it fairly. Further ones wait shortly and are answered 503 with `Retry-After`. Bodies that are not transformed are never held.',
  }),
  // Below the 30 seconds after which the server itself ends a request, without a line in the log of calls.
  esbBodyTimeoutMs: setting(duration(100, 29_000), {
    key: 'esb.body_timeout',
    env: 'SVC_ESB_BODY_TIMEOUT',
    default: 25_000,
    doc: 'How long a process waits for the body of a call, all pauses together; then it is answered 400.',
  }),
  esbBodyStallMs: setting(duration(100, 29_000), {
    key: 'esb.body_stall_timeout',
    env: 'SVC_ESB_BODY_STALL_TIMEOUT',
    default: 5_000,
    doc: 'The longest pause in the body of a call, and how far it may be behind 16 KiB a second; then it is answered 400.',
  }),
  esbDeniedCidrs: setting(cidrList, {
    key: 'esb.denied_cidrs',
    env: 'SVC_ESB_DENIED_CIDRS',
    default: [],
    doc: 'Networks that are never forwarded to, comma separated. Link-local and cloud metadata addresses never are.',
  }),
  esbAllowedCidrs: setting(cidrList, {
    key: 'esb.allowed_cidrs',
    env: 'SVC_ESB_ALLOWED_CIDRS',
    default: [],
    doc: 'When not empty: the only networks that are forwarded to, comma separated.',
  }),
} as const
