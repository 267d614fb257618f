import { cidrList, duration, integer, defineSetting } from '../../config/readers.ts'

export const gatewaySettings = {
  esbMaxResponseBytes: defineSetting(integer(1_024, 1_073_741_824), {
    key: 'esb.max_response_bytes',
    env: 'SVC_ESB_MAX_RESPONSE_BYTES',
    default: 10 * 1_048_576,
    doc: 'Maximum size of the body of an upstream response, as transferred. If the body is larger, the call fails with 502.',
  }),
  esbForwardTimeoutMs: defineSetting(duration(100, 3_600_000), {
    key: 'esb.forward_timeout',
    env: 'SVC_ESB_FORWARD_TIMEOUT',
    default: 30_000,
    doc: 'Maximum time from forwarding a call to receiving the last byte of the response, for example `30s` or `500ms`. A longer call fails with 502.',
  }),
  esbMaxCallsPerOrigin: defineSetting(integer(1, 10_000), {
    key: 'esb.max_calls_per_origin',
    env: 'SVC_ESB_MAX_CALLS_PER_ORIGIN',
    default: 256,
    doc: 'Maximum number of calls of one project that a process forwards concurrently to one scheme, host and port, each on its own connection. Further calls return 503 with `Retry-After`, so that a slow partner delays only its own callers.',
  }),
  esbMaxBufferedBytes: defineSetting(integer(1_048_576, 64 * 1_073_741_824), {
    key: 'esb.max_buffered_bytes',
    env: 'SVC_ESB_MAX_BUFFERED_BYTES',
    default: 128 * 1_048_576,
    doc: 'Maximum total size of the request bodies that a process buffers to transform them. Only bytes that have arrived count, and projects share the limit fairly. Further bodies wait briefly, and their calls then return 503 with `Retry-After`. Bodies that are not transformed are never buffered.',
  }),
  // The maximum is less than 30 s, after which the server itself closes a request without an entry in the call log.
  esbBodyTimeoutMs: defineSetting(duration(100, 29_000), {
    key: 'esb.body_timeout',
    env: 'SVC_ESB_BODY_TIMEOUT',
    default: 25_000,
    doc: 'Maximum time that a process waits for the body of a call, including all pauses. If it is exceeded, the call returns 400.',
  }),
  esbBodyStallMs: defineSetting(duration(100, 29_000), {
    key: 'esb.body_stall_timeout',
    env: 'SVC_ESB_BODY_STALL_TIMEOUT',
    default: 5_000,
    doc: 'Maximum pause in the body of a call, and maximum time that the body can lag behind a rate of 16 KiB/s. If either is exceeded, the call returns 400.',
  }),
  esbTestCallsPerMinute: defineSetting(integer(1, 10_000), {
    key: 'esb.test_calls_per_minute',
    env: 'SVC_ESB_TEST_CALLS_PER_MINUTE',
    default: 30,
    doc: 'Maximum number of test calls that people can make to the endpoints of a project per minute. Further test calls are rejected, and the error contains the number of seconds to wait.',
  }),
  esbDeniedCidrs: defineSetting(cidrList, {
    key: 'esb.denied_cidrs',
    env: 'SVC_ESB_DENIED_CIDRS',
    default: [],
    doc: 'Networks to which calls are never forwarded, comma-separated. Link-local and cloud metadata addresses are always denied.',
  }),
  esbAllowedCidrs: defineSetting(cidrList, {
    key: 'esb.allowed_cidrs',
    env: 'SVC_ESB_ALLOWED_CIDRS',
    default: [],
    doc: 'If not empty, the only networks to which calls are forwarded, comma-separated.',
  }),
} as const
