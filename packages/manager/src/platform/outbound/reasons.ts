// Why an upstream could not be asked, or did not answer, in words.
import { errors } from 'undici'
import { EgressRefused, HandshakeEnded } from './connector.ts'

/** A text without addresses or values: the caller gets it, and the log keeps it. */
export function reasonOf(error: Error & { code?: string }): string {
  if (error instanceof EgressRefused) return 'the address of the upstream is not allowed'
  if (error instanceof HandshakeEnded) return 'the upstream closed the connection before TLS was set up'
  if (isTlsAlert(error)) return 'the upstream speaks TLS; use https:// or another port'
  const { code = '' } = error
  const reason = reasons[code]
  if (reason !== undefined) return reason
  return code.startsWith('ERR_SSL_')
    ? 'the TLS connection to the upstream failed'
    : 'the upstream ended its response early'
}

/** Whether the answer in place of HTTP is an alert of TLS: what is spoken to in plain text and expects TLS. */
const isTlsAlert = (error: Error): boolean =>
  error instanceof errors.HTTPParserError && 'data' in error && String(error.data).startsWith('\u0015\u0003')

const reasons: Record<string, string> = {
  ECONNREFUSED: 'the upstream refuses connections',
  ENOTFOUND: 'the name of the upstream cannot be resolved',
  EAI_AGAIN: 'the name of the upstream cannot be resolved',
  EHOSTUNREACH: 'the upstream cannot be reached',
  ENETUNREACH: 'the upstream cannot be reached',
  ETIMEDOUT: 'the upstream cannot be reached',
  UND_ERR_CONNECT_TIMEOUT: 'the upstream cannot be reached',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the upstream answer are too large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the upstream answer has another length than announced',
  UND_ERR_REQ_CONTENT_LENGTH_MISMATCH: 'the request body has another length than announced',
  UND_ERR_CLOSED: 'the service is closing its connections',
  UND_ERR_DESTROYED: 'the service is closing its connections',
  UND_ERR_INVALID_ARG: 'the request cannot be sent to the upstream',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate of the upstream is not trusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate of the upstream is not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate of the upstream is not trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the certificate of the upstream is not trusted',
  CERT_HAS_EXPIRED: 'the certificate of the upstream has expired',
  // What came is no record of TLS.
  ERR_SSL_WRONG_VERSION_NUMBER: 'the upstream does not speak TLS; use http:// or another port',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate of the upstream is for another name',
}
