// Logs: one JSON object per line on standard output, UTC, secrets removed by name wherever they appear.
import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino'

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
const bufferBytes = 8_192
const flushEveryMs = 100

/** A logger that never prints the value of a field with a secret name. */
export function createLog(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: { pid: process.pid },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    // Not pino's own redaction: its wildcards cost more than everything else about a line.
    formatters: {
      level: (label: string) => ({ level: label }),
      log: (fields: Record<string, unknown>) => withoutSecrets(fields, 0) as Record<string, unknown>,
    },
    serializers: { err: (error: Error) => withoutSecrets(stdSerializers.err(error), 0) },
  }
  return pino(options, destination ?? standardOutput())
}

/** Lines are written many at a time: one write per line costs more than making it. The end of the process writes the rest. */
function standardOutput(): DestinationStream {
  const output = pino.destination({ fd: 1, sync: true, minLength: bufferBytes })
  const flush = (): void => output.flushSync()
  setInterval(flush, flushEveryMs).unref()
  process.on('exit', flush)
  return output
}

/** The same value, or a copy in which secrets are replaced; errors are left to their serializer. */
function withoutSecrets(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Error) return value
  if (depth === maxDepth) return '[too deep]'
  let copy: Record<string, unknown> | null = null
  for (const [name, field] of Object.entries(value)) {
    const shown = secretNames.has(name.toLowerCase()) ? '[redacted]' : withoutSecrets(field, depth + 1)
    if (shown === field) continue
    copy ??= (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as Record<string, unknown>
    copy[name] = shown
  }
  return copy ?? value
}
