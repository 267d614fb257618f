// The checks of `svc doctor` that need no credential: proxy settings, connection and clock.
import type { Terminal } from '../terminal.ts'
import { type Check, fail, ok, skip, warn } from './check.ts'

const timeoutMs = 5_000
const [maxSkewMs, minuteMs] = [60_000, 60_000]
const proxyVariables = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy']

/** Node uses the proxy variables only on request, so a set variable can be ineffective. */
export function checkNetworkProxy({ env }: Terminal): Check {
  const variable = proxyVariables.find((name) => (env[name] ?? '') !== '')
  if (variable === undefined) return ok('network proxy', 'none')
  if (env['NODE_USE_ENV_PROXY'] === '1') return ok('network proxy', `used (${variable})`)
  return warn(
    'network proxy',
    `${variable} is set, but not used`,
    'If you need the proxy, run: export NODE_USE_ENV_PROXY=1',
  )
}

/** Sends a request without a credential. The clock check needs the Date header of its response. */
export async function checkConnection(url: string, signal: AbortSignal): Promise<[Check, Check]> {
  const startMs = Date.now()
  try {
    const response = await fetch(`${url}/health`, {
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    })
    const endMs = Date.now()
    await response.body?.cancel()
    const date = response.headers.get('date')
    return [checkStatus(response.status, endMs - startMs), checkClock(date, (startMs + endMs) / 2)]
  } catch (error) {
    signal.throwIfAborted()
    const clock = skip('clock', 'no response')
    return [fail('connection', getErrorText(error), getConnectionHint(getErrorCode(error))), clock]
  }
}

function checkStatus(status: number, durationMs: number): Check {
  const result = `status ${status} in ${durationMs} ms`
  if (status === 502 || status === 504)
    return fail('connection', result, 'The proxy does not reach the Manager. Tell the operator.')
  if (status === 503) return fail('connection', result, 'The Manager is not ready. Try again later.')
  // Other statuses only show that the proxy does not forward this path.
  return ok('connection', result)
}

/** Compares the clocks. The Date header has whole seconds. */
export function checkClock(date: string | null, localMs: number): Check {
  const dateMs = Date.parse(date ?? '')
  if (Number.isNaN(dateMs)) return skip('clock', 'the response has no date')
  const skewMs = localMs - (dateMs + 500)
  if (Math.abs(skewMs) <= maxSkewMs) return ok('clock', 'agrees with the server')
  const minutes = Math.round(Math.abs(skewMs) / minuteMs)
  return fail(
    'clock',
    `${minutes} min ${skewMs > 0 ? 'ahead of' : 'behind'} the server`,
    'Set the clock of this machine. Certificates and times depend on it.',
  )
}

function getErrorCode(error: unknown): string {
  const { cause, code, name } = error as { cause?: unknown; code?: unknown; name?: string }
  const rootCode = (cause as { code?: unknown } | undefined)?.code ?? code
  return typeof rootCode === 'string' ? rootCode : (name ?? '')
}

const getErrorText = (error: unknown): string => {
  const { cause, message } = error as Error
  return cause instanceof Error && cause.message !== '' ? cause.message : message
}

function getConnectionHint(code: string): string {
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return 'Check the host name in the address, and the name server of this machine.'
  if (code === 'ECONNREFUSED') return 'Check the port in the address, and whether the proxy runs.'
  if (code === 'TimeoutError' || code === 'ETIMEDOUT' || code === 'EHOSTUNREACH')
    return 'Check the firewall, the VPN and the network proxy.'
  if (/CERT|SIGNATURE|SELF_SIGNED|ISSUER/.test(code))
    return 'If your organization has its own certificates, set NODE_EXTRA_CA_CERTS to a file with them.'
  return 'Check the address and the network.'
}
