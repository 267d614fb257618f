// A Kubernetes API client: individual requests, limited in time and size, with credentials that are read for
// each request.
import { Pool, errors } from 'undici'
import { type KubernetesAccess, type KubernetesOptions, readAccess } from './kubernetes-access.ts'
import { OrchestratorFailure } from './orchestrator.ts'

/** A request to the API server. */
export type KubernetesRequest = {
  method: 'GET' | 'PATCH'
  path: string
  /** Purpose of the request for error messages, such as `read the scale of the Deployment shop/orders`. */
  purpose: string
  /** A merge patch. */
  patch?: unknown
  signal: AbortSignal
}
/** The responses that callers handle; all others throw. */
type KubernetesResponse = { status: 200; body: unknown } | { status: 404 | 409 }
/** Sends requests to the API server; `send` throws OrchestratorFailure. */
export type KubernetesApi = {
  send(request: KubernetesRequest): Promise<KubernetesResponse>
  close(): Promise<void>
}

/** A list response is far smaller than this limit. */
const maxResponseBytes = 8 * 1024 * 1024
const maxConnections = 4

/** Throws OrchestratorFailure if the credentials cannot be read. */
export function createKubernetesApi(options: KubernetesOptions): KubernetesApi {
  let currentPool = openPool(readAccess(options))
  /** Returns the pool for the current certificates; requests in flight keep the previous pool. */
  const refreshPool = (): OpenPool => {
    const access = readAccess(options)
    if (computeFingerprint(access) === currentPool.fingerprint) return { ...currentPool, access }
    currentPool.pool.close().catch(() => undefined)
    currentPool = openPool(access)
    return currentPool
  }
  return {
    send: async (request) => {
      const { pool, access } = refreshPool()
      const attempt = (): Promise<KubernetesResponse> =>
        rejectOnAbort(sendOnce(pool, access, request), request.signal)
      try {
        // The server may have closed the connection while it was idle, so retry once on a new one. A patch names the
        // version that it changes, so it is never applied twice.
        return await attempt().catch((error: unknown) => {
          if (isBrokenConnection(error)) return attempt()
          throw error
        })
      } catch (error) {
        throw toFailure(error, access, request)
      }
    },
    close: () => currentPool.pool.destroy(),
  }
}

/** undici ignores the signal until the request has a connection. */
function rejectOnAbort<T>(pendingRequest: Promise<T>, signal: AbortSignal): Promise<T> {
  const abortPromise = new Promise<never>((_, reject) => {
    const abort = (): void => reject(signal.reason as Error)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
  })
  return Promise.race([pendingRequest, abortPromise])
}

type OpenPool = { pool: Pool; access: KubernetesAccess; fingerprint: string }

function openPool(access: KubernetesAccess): OpenPool {
  const pool = new Pool(access.server.origin, {
    connections: maxConnections,
    connect: { ...access.tls, timeout: 3_000 },
    maxResponseSize: maxResponseBytes,
  })
  return { pool, access, fingerprint: computeFingerprint(access) }
}

const computeFingerprint = ({ server, tls }: KubernetesAccess): string => JSON.stringify([server.href, tls])

async function sendOnce(
  pool: Pool,
  { server, token }: KubernetesAccess,
  { method, path, patch, purpose, signal }: KubernetesRequest,
): Promise<KubernetesResponse> {
  const { statusCode, body } = await pool.request({
    method,
    path: `${server.pathname === '/' ? '' : server.pathname}${path}`,
    headers: {
      accept: 'application/json',
      'user-agent': 'manager',
      authorization: `Bearer ${token}`,
      ...(patch === undefined ? {} : { 'content-type': 'application/merge-patch+json' }),
    },
    body: patch === undefined ? null : JSON.stringify(patch),
    signal,
  })
  const text = await body.text()
  if (statusCode === 200) return { status: 200, body: parseJson(text, purpose) }
  if (statusCode === 404 || statusCode === 409) return { status: statusCode }
  throw new OrchestratorFailure(`cannot ${purpose}: ${describeRejection(statusCode, text)}`)
}

function parseJson(text: string, purpose: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw new OrchestratorFailure(`cannot ${purpose}: the API server did not return JSON`)
  }
}

/** Includes only the `reason` from the response, a word from a fixed list. The `message` can quote untrusted text. */
function describeRejection(status: number, text: string): string {
  const [, reason] = /"reason":\s{0,8}"([A-Za-z]{1,64})"/.exec(text.slice(0, 65_536)) ?? []
  const statusText = reason === undefined ? String(status) : `${status} ${reason}`
  if (status === 401) return `the API server rejected the credentials of the service (${statusText})`
  if (status === 403) return `the role of the service account does not allow this request (${statusText})`
  return `the API server returned ${statusText}`
}

const isBrokenConnection = (error: unknown): boolean =>
  ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes((error as { code?: string }).code ?? '')

const reasonsByCode: Record<string, string> = {
  ECONNREFUSED: 'refuses connections',
  ENOTFOUND: 'has a name that cannot be resolved',
  EAI_AGAIN: 'has a name that cannot be resolved',
  UND_ERR_CONNECT_TIMEOUT: 'cannot be reached',
  EHOSTUNREACH: 'cannot be reached',
  ENETUNREACH: 'cannot be reached',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'returned a response that is too large',
  ERR_TLS_CERT_ALTNAME_INVALID: 'has a certificate for another name',
  CERT_HAS_EXPIRED: 'has a certificate that has expired',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'has a certificate that the configured CA did not sign',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'has a certificate that the configured CA did not sign',
  SELF_SIGNED_CERT_IN_CHAIN: 'has a certificate that the configured CA did not sign',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'has a certificate that the configured CA did not sign',
}

function toFailure(
  error: unknown,
  { server }: KubernetesAccess,
  { purpose, signal }: KubernetesRequest,
): OrchestratorFailure {
  if (error instanceof OrchestratorFailure) return error
  const { code = '' } = error as { code?: string }
  const reason = signal.aborted
    ? 'did not respond in time'
    : (reasonsByCode[code] ??
      (error instanceof errors.UndiciError || code !== '' ? `failed (${code})` : 'failed'))
  return new OrchestratorFailure(`cannot ${purpose}: the API server at ${server.host} ${reason}`, {
    cause: error,
  })
}
