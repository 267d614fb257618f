// The proxy gate checks the shared secret in X-Proxy-Auth before any credential or body is read. Rejections are
// counted, never logged: otherwise, anyone who can reach the port could fill the log.
import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { AppError } from '../errors.ts'
import type { Metrics } from '../metrics.ts'
import { readSingleHeader } from './headers.ts'

/** Decides whether a request comes from the trusted proxy. */
export type Gate = {
  /** Throws 401 unless the request comes from the trusted proxy; returns false if only the escape hatch admits it. */
  checkRequest(request: IncomingMessage): boolean
  /** False if no secret is configured; the gate then trusts no request. */
  hasSecret: boolean
  /** Whether the request carries a correct secret, regardless of the escape hatch. */
  isTrusted(request: IncomingMessage): boolean
}

/**
 * Creates the gate. `secrets` contains the current secret and, during a rollout of the proxies, the previous one.
 * Without a secret the gate stays closed.
 */
export function createGate(options: {
  secrets: string[]
  openForDevelopment: boolean
  metrics: Metrics
}): Gate {
  const paddedLength = Math.max(minPaddedLength, ...options.secrets.map((secret) => secret.length))
  const secrets = options.secrets.map((secret) => writePadded(Buffer.alloc(paddedLength), secret))
  const presentedSecret = Buffer.alloc(paddedLength)
  const isTrusted = (request: IncomingMessage): boolean => {
    const header = readSingleHeader(request, 'x-proxy-auth')
    if (header === null || header === 'repeated' || header.value.length > paddedLength) return false
    writePadded(presentedSecret, header.value)
    // Both secrets are always compared, so that timing does not reveal which one matched.
    let isMatch = false
    for (const secret of secrets) if (timingSafeEqual(secret, presentedSecret)) isMatch = true
    return isMatch
  }
  const refuse = (reason: 'no_secret_configured' | 'secret', text: string): never => {
    options.metrics.gateRejections.inc({ reason })
    throw new AppError('unauthenticated', text)
  }
  return {
    hasSecret: secrets.length > 0,
    isTrusted,
    checkRequest: (request) => {
      const isFromProxy = isTrusted(request)
      if (isFromProxy || options.openForDevelopment) return isFromProxy
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

// Values are padded to equal lengths for timingSafeEqual, so that timing does not reveal the length of a
// secret. The padding is zeros, which no header can contain.
const minPaddedLength = 128

function writePadded(buffer: Buffer, text: string): Buffer {
  return buffer.fill(0, buffer.write(text, 'latin1'))
}
