// Logs: one JSON object per line on standard output, UTC, secrets removed by name wherever they appear.
import { type DestinationStream, type Logger, pino } from 'pino'

export type { Logger } from 'pino'

const secretNames = [
  'authorization',
  'cookie',
  'x-proxy-auth',
  'set-cookie',
  'password',
  'authPassword',
  'authToken',
  'token',
  'generatedToken',
  'plaintextPassword',
  'hashedKey',
  'secret',
  'masterKey',
]
const paths = secretNames.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`])

/** A logger that never prints the value of a field with a secret name, up to two levels down. */
export function createLog(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: { pid: process.pid },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    redact: { paths, censor: '[redacted]' },
    formatters: { level: (label: string) => ({ level: label }) },
  }
  return destination === undefined ? pino(options) : pino(options, destination)
}
