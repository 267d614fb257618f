// These settings define after how many failed credentials a client is blocked.
import { defineThrottleSettings } from '../../config/throttle-settings.ts'

export const proxyAuthSettings = {
  ...defineThrottleSettings('validate', {
    failures: 10,
    windowMs: 300_000,
    blockMs: 300_000,
    doc: {
      failures:
        'Number of failed credentials on `/api/validate-proxy-auth`, or of malformed requests on `/api/validate-oauth-user`, after which the client is blocked on that route.',
      block: 'Duration of the block, during which the client receives 429.',
    },
  }),
  ...defineThrottleSettings('basic', {
    failures: 5,
    windowMs: 900_000,
    blockMs: 900_000,
    doc: {
      failures: 'Number of failed Basic logins for one user name after which the client is blocked.',
      block: 'Duration of the block, during which the client receives 429.',
    },
  }),
} as const
