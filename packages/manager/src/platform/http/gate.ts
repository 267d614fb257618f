// The proxy gate: the shared secret in X-Proxy-Auth, checked before any credential or body is read. Refusals are
// counted, never logged: anyone who reaches the port could otherwise fill the log.
import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { AppError } from '../errors.ts'
import type { Metrics } from '../metrics.ts'
import { singleHeader } from './headers.ts'

export type Gate = {
  /** Throws 401 unless the request comes from the trusted proxy; false when only the escape hatch let it in. */
  pass(request: IncomingMessage): boolean
  /** False when none is configured, and so nobody passes. */
  hasSecret: boolean
  /** True when the request carries a correct secret; the escape hatch does not count. */
  isTrusted(request: IncomingMessage): boolean
}

/**
 * `secrets` holds the current and, while proxies are rolled, the previous secret; without any the gate stays closed.
 */
export function createGate(options: {
  secrets: string[]
  openForDevelopment: boolean
  metrics: Metrics
}): Gate {
  const longest = Math.max(minWidth, ...options.secrets.map((secret) => secret.length))
  const secrets = options.secrets.map((secret) => fillWith(Buffer.alloc(longest), secret))
  const given = Buffer.alloc(longest)
  const isTrusted = (request: IncomingMessage): boolean => {
    const header = singleHeader(request, 'x-proxy-auth')
    if (header === null || header === 'repeated' || header.value.length > longest) return false
    fillWith(given, header.value)
    // Both secrets are always compared, so time says nothing about which one matched.
    let matches = false
    for (const secret of secrets) if (timingSafeEqual(secret, given)) matches = true
    return matches
  }
  const refuse = (reason: 'no_secret_configured' | 'secret', text: string): never => {
    options.metrics.gateRejections.inc({ reason })
    throw new AppError('unauthenticated', text)
  }
  return {
    hasSecret: secrets.length > 0,
    isTrusted,
    pass: (request) => {
      const trusted = isTrusted(request)
      if (trusted || options.openForDevelopment) return trusted
      if (secrets.length === 0)
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

// Equal lengths for timingSafeEqual for every header, so that time does not tell how long a secret is: the rest is
// filled with zeros, which no header can hold.
const minWidth = 128

function fillWith(buffer: Buffer, text: string): Buffer {
  return buffer.fill(0, buffer.write(text, 'latin1'))
}
