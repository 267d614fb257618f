// The settings of backends and of the callbacks to them.
import { cidrList, duration, setting } from '../../config/readers.ts'

export const backendSettings = {
  callbacksStaleAfterMs: setting(duration(1_000, 3_600_000), {
    key: 'callbacks.stale_after',
    env: 'SVC_CALLBACKS_STALE_AFTER',
    default: 90_000,
    doc: 'How long a backend may be silent before it is called back no more; backends send a heartbeat every 30 s. Times in which the service itself could not receive heartbeats do not count.',
  }),
  callbacksReapAfterMs: setting(duration(1_000, 86_400_000), {
    key: 'callbacks.reap_after',
    env: 'SVC_CALLBACKS_REAP_AFTER',
    default: 600_000,
    doc: 'How long a backend may be silent before its registration is removed; its next heartbeat is then answered 404, and it registers again.',
  }),
  callbacksAllowedCidrs: setting(cidrList, {
    key: 'callbacks.allowed_cidrs',
    env: 'SVC_CALLBACKS_ALLOWED_CIDRS',
    default: [],
    doc: 'Loopback, private and reserved networks that backends may be called back in, comma separated, for backends of the same cluster. Without any, callbacks go to public addresses alone. Link-local, cloud metadata and multicast addresses are never called.',
  }),
} as const
