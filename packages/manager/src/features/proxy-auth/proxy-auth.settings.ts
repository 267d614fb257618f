// These settings define after how many failed credentials a client is blocked.
import { defineThrottleSettings } from '../../config/throttle-settings.ts'

export const proxyAuthSettings = {
  ...defineThrottleSettings('validate', {
    failures: 10,
    windowMs: 300_000,
    blockMs: 300_000,
    doc: {
      failures:
        'Failed credentials on `/api/validate-proxy-auth`, or malformed requests on `/api/validate-oauth-user`, after which a client is blocked there.',
      block: 'Duration of the block, in which the client receives 429.',
    },
  }),
  ...defineThrottleSettings('basic', {
    failures: 5,
    windowMs: 900_000,
    blockMs: 900_000,
    doc: {
      failures: 'Failed Basic passwords for one user name after which a client is blocked.',
      block: 'Duration of the block, in which the client receives 429.',
    },
  }),
} as const
