// Hints that name the next command after an error.
import { ConnectionError, GraphqlError, ResponseError } from '@manager/client'

const doctorHint = 'To find the cause, run: svc doctor'
const permissionHint = 'To see your permissions, run: svc whoami --can -p <project>'

/** Returns a sentence that tells the user which command to run next, or null. */
export function getHint(error: unknown): string | null {
  if (error instanceof ConnectionError) return doctorHint
  if (error instanceof GraphqlError) return getCodeHint(error.code, error.retryAfterMs)
  if (!(error instanceof ResponseError)) return null
  const { status, code, retryAfterMs } = error
  if (status === 403) return permissionHint
  // A page with status 200 that is not JSON comes from another server.
  if (status < 400 || status === 502 || status === 503 || status === 504) return doctorHint
  return getCodeHint(code, retryAfterMs)
}

function getCodeHint(code: string | null, retryAfterMs: number | null): string | null {
  if (code === 'rate_limited')
    return `Run the same command again in ${Math.ceil((retryAfterMs ?? 60_000) / 1_000)} s.`
  return code !== null && Object.hasOwn(codeHints, code) ? (codeHints[code] ?? null) : null
}

const codeHints: Readonly<Record<string, string>> = {
  forbidden: permissionHint,
  not_found: 'To find an object by a part of its name, run: svc search <text>',
  CONFLICT: 'The object has changed since svc read it. Run the same command again.',
  unavailable: doctorHint,
}
