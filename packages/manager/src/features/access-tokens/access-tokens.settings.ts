// When made-up personal access tokens are refused without a database read.
import { throttleSettings } from '../../config/throttle-settings.ts'

export const accessTokenSettings = throttleSettings('forgery', {
  failures: 5,
  windowMs: 60_000,
  blockMs: 60_000,
  doc: {
    failures:
      'Personal access tokens with a correct check but a wrong remainder, or made up for a token of an old install, for one prefix, after which unknown tokens with this prefix are refused: 429 on `/api/validate-proxy-auth`, 503 elsewhere.',
    block: 'How long that lasts.',
  },
})
