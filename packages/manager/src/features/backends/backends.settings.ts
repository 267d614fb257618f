import { cidrList, duration, defineSetting } from '../../config/readers.ts'

export const backendSettings = {
  callbacksStaleAfterMs: defineSetting(duration(1_000, 3_600_000), {
    key: 'callbacks.stale_after',
    env: 'SVC_CALLBACKS_STALE_AFTER',
    default: 90_000,
    doc: 'Time without a heartbeat after which a backend receives no more callbacks. Backends send a heartbeat every 30 s. Periods in which the service itself cannot receive heartbeats do not count.',
  }),
  callbacksReapAfterMs: defineSetting(duration(1_000, 86_400_000), {
    key: 'callbacks.reap_after',
    env: 'SVC_CALLBACKS_REAP_AFTER',
    default: 600_000,
    doc: 'Time without a heartbeat after which the registration of a backend is removed. Its next heartbeat returns 404, and the backend registers again.',
  }),
  callbacksAllowedCidrs: defineSetting(cidrList, {
    key: 'callbacks.allowed_cidrs',
    env: 'SVC_CALLBACKS_ALLOWED_CIDRS',
    default: [],
    doc: 'Loopback, private and reserved networks to which callbacks may be sent, comma-separated. Set this if backends run in the same cluster. If the list is empty, callbacks are sent only to public addresses. Link-local, cloud metadata and multicast addresses are never called.',
  }),
} as const
