// A client of the Kubernetes API: single requests, bounded in time and size, with the credentials of the moment.
import { Pool, errors } from 'undici'
import { type KubernetesAccess, type KubernetesOptions, readAccess } from './kubernetes-access.ts'
import { OrchestratorFailure } from './orchestrator.ts'

export type KubernetesRequest = {
  method: 'GET' | 'PATCH'
  path: string
  /** What the request is for, such as `read the scale of the Deployment shop/orders`. */
  what: string
  /** A merge patch. */
  patch?: unknown
  signal: AbortSignal
}
/** The answers that callers tell apart; all others are failures. */
type KubernetesAnswer = { status: 200; body: unknown } | { status: 404 | 409 }
export type KubernetesApi = {
  ask(request: KubernetesRequest): Promise<KubernetesAnswer>
  close(): Promise<void>
}

/** A page of a list is far below this. */
const maxAnswerBytes = 8 * 1024 * 1024
const connections = 4

/** Throws at once if there are no credentials. */
export function createKubernetesApi(options: KubernetesOptions): KubernetesApi {
  let current = open(readAccess(options))
  /** The pool for the certificates as they are now; requests in flight keep the former one. */
  const refreshed = (): Opened => {
    const access = readAccess(options)
    if (fingerprintOf(access) === current.fingerprint) return { ...current, access }
    current.pool.close().catch(() => undefined)
    current = open(access)
    return current
  }
  return {
    ask: async (request) => {
      const { pool, access } = refreshed()
      const attempt = (): Promise<KubernetesAnswer> => inTime(send(pool, access, request), request.signal)
      try {
        // A connection that the server closed while it was idle breaks. Once more on a new one: a patch names the version
        // that it changes, so that it is never applied twice.
        return await attempt().catch((error: unknown) => {
          if (isBroken(error)) return attempt()
          throw error
        })
      } catch (error) {
        throw failureOf(error, access, request)
      }
    },
    close: () => current.pool.destroy(),
  }
}

/** undici sees a signal only when it has a connection. */
function inTime<T>(sending: Promise<T>, signal: AbortSignal): Promise<T> {
  const late = new Promise<never>((_, reject) => {
    const abort = (): void => reject(signal.reason as Error)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
  })
  return Promise.race([sending, late])
}

type Opened = { pool: Pool; access: KubernetesAccess; fingerprint: string }

function open(access: KubernetesAccess): Opened {
  const pool = new Pool(access.server.origin, {
    connections,
    connect: { ...access.tls, timeout: 3_000 },
    maxResponseSize: maxAnswerBytes,
  })
  return { pool, access, fingerprint: fingerprintOf(access) }
}

const fingerprintOf = ({ server, tls }: KubernetesAccess): string => JSON.stringify([server.href, tls])

async function send(
  pool: Pool,
  { server, token }: KubernetesAccess,
  { method, path, patch, what, signal }: KubernetesRequest,
): Promise<KubernetesAnswer> {
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
  if (statusCode === 200) return { status: 200, body: parsed(text, what) }
  if (statusCode === 404 || statusCode === 409) return { status: statusCode }
  throw new OrchestratorFailure(`cannot ${what}: ${refusalOf(statusCode, text)}`)
}

function parsed(text: string, what: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw new OrchestratorFailure(`cannot ${what}: the answer of the API server is no JSON`)
  }
}

/** Of the answer only its reason, which is one word of a closed list: messages quote what others wrote. */
function refusalOf(status: number, text: string): string {
  const [, reason] = /"reason":\s{0,8}"([A-Za-z]{1,64})"/.exec(text.slice(0, 65_536)) ?? []
  const answer = reason === undefined ? String(status) : `${status} ${reason}`
  if (status === 401) return `the API server does not accept the credentials of the service (${answer})`
  if (status === 403) return `the role of the service does not allow it (${answer})`
  return `the API server answered ${answer}`
}

const isBroken = (error: unknown): boolean =>
  ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes((error as { code?: string }).code ?? '')

const reasons: Record<string, string> = {
  ECONNREFUSED: 'refuses connections',
  ENOTFOUND: 'has a name that cannot be resolved',
  EAI_AGAIN: 'has a name that cannot be resolved',
  UND_ERR_CONNECT_TIMEOUT: 'cannot be reached',
  EHOSTUNREACH: 'cannot be reached',
  ENETUNREACH: 'cannot be reached',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'answered more than the service reads',
  ERR_TLS_CERT_ALTNAME_INVALID: 'has a certificate for another name',
  CERT_HAS_EXPIRED: 'has a certificate that has expired',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'has a certificate that the given authority did not sign',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'has a certificate that the given authority did not sign',
  SELF_SIGNED_CERT_IN_CHAIN: 'has a certificate that the given authority did not sign',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'has a certificate that the given authority did not sign',
}

function failureOf(
  error: unknown,
  { server }: KubernetesAccess,
  { what, signal }: KubernetesRequest,
): OrchestratorFailure {
  if (error instanceof OrchestratorFailure) return error
  const { code = '' } = error as { code?: string }
  const reason = signal.aborted
    ? 'did not answer in time'
    : (reasons[code] ?? (error instanceof errors.UndiciError || code !== '' ? `failed (${code})` : 'failed'))
  return new OrchestratorFailure(`cannot ${what}: the API server at ${server.host} ${reason}`, {
    cause: error,
  })
}
