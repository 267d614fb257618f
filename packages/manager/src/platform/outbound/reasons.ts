// Describes why a call to an upstream failed.
import { errors } from 'undici'
import { EgressRefusedError, HandshakeEndedError } from './connector.ts'

/** Returns a description without addresses or values, because it is sent to the caller and logged. */
export function describeFailure(error: Error & { code?: string }): string {
  if (error instanceof EgressRefusedError) return 'the address of the upstream is not allowed'
  if (error instanceof HandshakeEndedError)
    return 'the upstream closed the connection during the TLS handshake'
  if (isTlsAlert(error)) return 'the upstream requires TLS; use https:// or another port'
  const { code = '' } = error
  const reason = reasonsByCode[code]
  if (reason !== undefined) return reason
  return code.startsWith('ERR_SSL_')
    ? 'the TLS connection to the upstream failed'
    : 'the upstream response is incomplete or invalid'
}

/** Whether the response is a TLS alert instead of HTTP: the upstream expects TLS but was called without it. */
const isTlsAlert = (error: Error): boolean =>
  error instanceof errors.HTTPParserError && 'data' in error && String(error.data).startsWith('\u0015\u0003')

const reasonsByCode: Record<string, string> = {
  ECONNREFUSED: 'the upstream refuses connections',
  ENOTFOUND: 'the name of the upstream cannot be resolved',
  EAI_AGAIN: 'the name of the upstream cannot be resolved',
  EHOSTUNREACH: 'the upstream cannot be reached',
  ENETUNREACH: 'the upstream cannot be reached',
  ETIMEDOUT: 'the upstream cannot be reached',
  UND_ERR_CONNECT_TIMEOUT: 'the upstream cannot be reached',
  UND_ERR_HEADERS_OVERFLOW: 'the upstream response headers are too large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the upstream response length does not match its Content-Length',
  UND_ERR_REQ_CONTENT_LENGTH_MISMATCH: 'the request body length does not match its Content-Length',
  UND_ERR_CLOSED: 'the service is closing its connections',
  UND_ERR_DESTROYED: 'the service is closing its connections',
  UND_ERR_INVALID_ARG: 'the request cannot be sent to the upstream',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate of the upstream is not trusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate of the upstream is not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate of the upstream is not trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the certificate of the upstream is not trusted',
  CERT_HAS_EXPIRED: 'the certificate of the upstream has expired',
  // The response is not a TLS record.
  ERR_SSL_WRONG_VERSION_NUMBER: 'the upstream does not use TLS on this port; use http:// or another port',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate of the upstream is for another name',
}
