// Writes logs: one JSON object per line with UTC timestamps. Fields with secret names are redacted wherever they
// appear. log-output.ts writes the lines.
import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino'
import { requestLineEnd } from './log-output.ts'

export type { Logger } from 'pino'

const secretNames = new Set([
  'authorization',
  'authorization_header',
  'cookie',
  'x-proxy-auth',
  'set-cookie',
  'password',
  'authpassword',
  'authtoken',
  'token',
  'generatedtoken',
  'plaintextpassword',
  'hashedkey',
  'secret',
  'masterkey',
])
const maxDepth = 6

/** Creates a logger that never prints the value of a field with a secret name. */
export function createLog(level: string, destination: DestinationStream): Logger {
  const options = {
    level,
    base: { pid: process.pid },
    timestamp: formatTimestamp,
    // The redaction of pino is not used: its wildcards cost more than the rest of the line.
    formatters: {
      level: (label: string) => ({ level: label }),
      log: (fields: Record<string, unknown>) => redactSecrets(fields, 0) as Record<string, unknown>,
    },
    serializers: { err: (error: Error) => redactSecrets(removeRowValues(stdSerializers.err(error)), 0) },
  }
  return pino(options, destination)
}

/** The fields of a request line. None of the values needs JSON escaping. */
export type RequestLine = {
  request_id: string
  trace_id?: string | undefined
  route: string
  method: string
  status: string
  duration_ms: number
}

/**
 * Writes a request line. It bypasses the serializer, because most log lines are request lines and their format is
 * fixed.
 */
export function logRequest(
  log: Logger,
  level: 'info' | 'warn',
  line: RequestLine,
  extraFields: Record<string, unknown>,
): void {
  if (!log.isLevelEnabled(level)) return
  if (Object.keys(extraFields).length > 0) return log[level]({ ...line, ...extraFields }, 'request')
  const { request_id, trace_id, route, method, status, duration_ms } = line
  const traceField = trace_id === undefined ? '' : `"trace_id":"${trace_id}",`
  const stream = (log as unknown as Record<symbol, DestinationStream>)[pino.symbols.streamSym]
  stream?.write(
    `{"level":"${level}"${formatTimestamp()},"pid":${process.pid},"request_id":"${request_id}",${traceField}"route":"${route}",` +
      `"method":"${method}","status":"${status}","duration_ms":${duration_ms},${requestLineEnd}`,
  )
}

/** Returns the line that reports how many lines were dropped because the reader was too slow. */
export const formatDroppedLinesNotice = (count: number): string =>
  `{"level":"warn"${formatTimestamp()},"pid":${process.pid},"dropped":${count},` +
  `"msg":"log lines were dropped because standard output was not read in time"}\n`

let [timestampAt, timestampText] = [0, '']

/** Caches the text, because many lines share a millisecond. */
function formatTimestamp(): string {
  const now = Date.now()
  if (now !== timestampAt) [timestampAt, timestampText] = [now, `,"time":"${new Date(now).toISOString()}"`]
  return timestampText
}

/** Removes the fields in which a database error quotes row values. */
function removeRowValues(error: object): object {
  const { detail: _detail, where: _where, internalQuery: _query, ...rest } = error as Record<string, unknown>
  return rest
}

/** Returns the same value, or a copy with redacted secrets. Errors are left to the error serializer. */
function redactSecrets(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Error) return value
  if (depth === maxDepth) return '[too deep]'
  let copy: Record<string, unknown> | null = null
  for (const name of Object.keys(value)) {
    const field = (value as Record<string, unknown>)[name]
    const loggedValue = secretNames.has(name.toLowerCase()) ? '[redacted]' : redactSecrets(field, depth + 1)
    if (loggedValue === field) continue
    copy ??= (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as Record<string, unknown>
    copy[name] = loggedValue
  }
  return copy ?? value
}
