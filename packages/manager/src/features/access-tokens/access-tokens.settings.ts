// Settings that control when forged personal access tokens are rejected without a database read.
import { defineThrottleSettings } from '../../config/throttle-settings.ts'

export const accessTokenSettings = defineThrottleSettings('forgery', {
  failures: 5,
  windowMs: 60_000,
  blockMs: 60_000,
  doc: {
    failures:
      'Number of forged personal access tokens with the same prefix after which the Manager rejects unknown tokens with this prefix, with 429 on `/api/validate-proxy-auth` and with 503 on other routes. A forged token has a correct keyed check but a wrong secret, or imitates a token of an older installation.',
    block: 'Duration of the block.',
  },
})
