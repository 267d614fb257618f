// Settings that control when forged personal access tokens are rejected without a database read.
import { defineThrottleSettings } from '../../config/throttle-settings.ts'

export const accessTokenSettings = defineThrottleSettings('forgery', {
  failures: 5,
  windowMs: 60_000,
  blockMs: 60_000,
  doc: {
    failures:
      'Number of forged personal access tokens with the same prefix after which unknown tokens with this prefix are rejected: 429 on `/api/validate-proxy-auth`, 503 elsewhere. A forged token has a correct checksum but a wrong secret, or imitates a token of an older installation.',
    block: 'Duration of the block.',
  },
})
