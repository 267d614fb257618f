// The proxy gate: the shared secret in X-Proxy-Auth, checked before any credential or body is read. Refusals are
// counted, never logged: whoever reaches the port could otherwise fill the log.
import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { AppError } from '../errors.ts'
import type { Metrics } from '../metrics.ts'
import { singleHeader } from './headers.ts'

export type Gate = {
  /** Throws 401 unless the request comes from the trusted proxy; false when only the escape hatch let it in. */
  pass(request: IncomingMessage): boolean
  /** True when the request carries a right secret; the escape hatch does not count. */
  isTrusted(request: IncomingMessage): boolean
}

/** `secrets` holds the current and, while proxies are rolled, the previous secret; none closes the gate for good. */
export function createGate(options: {
  secrets: string[]
  openForDevelopment: boolean
  metrics: Metrics
}): Gate {
  const digests = options.secrets.map(digest)
  const isTrusted = (request: IncomingMessage): boolean => {
    const header = singleHeader(request, 'x-proxy-auth')
    if (header === null || header === 'repeated') return false
    const given = digest(header.value)
    // Both secrets are compared whatever the first answers, so time says nothing about which one matched.
    return digests.map((known) => timingSafeEqual(known, given)).includes(true)
  }
  const refuse = (reason: string, text: string): never => {
    options.metrics.gateRejections.inc({ reason })
    throw new AppError('unauthenticated', text)
  }
  return {
    isTrusted,
    pass: (request) => {
      const trusted = isTrusted(request)
      if (trusted || options.openForDevelopment) return trusted
      if (digests.length === 0)
        refuse(
          'no_secret_configured',
          'manager misconfiguration: no proxy secret is configured; set SVC_PROXY_SECRET and restart',
        )
      return refuse(
        'secret',
        'missing or invalid X-Proxy-Auth header: the request did not come through the trusted proxy',
      )
    },
  }
}

// Equal lengths for timingSafeEqual, whatever was sent.
const digest = (text: string): Buffer => hash('sha256', text, 'buffer')
