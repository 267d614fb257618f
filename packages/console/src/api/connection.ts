// The console sends requests to the origin of its page. The proxy in front of the Manager signs people in, so the
// console has no token.
import { connect } from '@manager/client'

/** The request failed while the browser had no connection, so the Manager never received it. */
export class OfflineError extends Error {}

export const connection = connect({
  url: location.origin,
  maxRetries: 2,
  fetch: async (...request) => {
    const wasOnline = navigator.onLine
    try {
      return await fetch(...request)
    } catch (cause) {
      throw wasOnline ? cause : new OfflineError('the browser is offline', { cause })
    }
  },
})
