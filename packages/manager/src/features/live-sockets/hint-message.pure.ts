// Defines the format of hints between processes: one line of JSON with the audience, followed by the frame text, which
// is forwarded without parsing.
import type { Audience, Hint } from './hints.pure.ts'

export type HintMessage = {
  /** The send time as a Unix timestamp in milliseconds. */
  sentAt: number
  hint: Omit<Hint, 'tenantId'>
}

/**
 * Maximum message length in characters. It is more than four times the length of the largest message that the service
 * sends.
 */
export const maxMessageLength = 262_144

export function encodeHint({ sentAt, hint }: HintMessage): string {
  const { applicationId, audience, text, mayDrop, exceptConnection } = hint
  const head = {
    at: sentAt,
    application: applicationId,
    audience,
    drop: mayDrop,
    except: exceptConnection,
  }
  return `${JSON.stringify(head)}\n${text}`
}

/**
 * Decodes a message, or returns null if it is not a hint. Redis can be shared, and processes of other releases can
 * publish there too.
 */
export function decodeHint(message: string): HintMessage | null {
  const end = message.indexOf('\n')
  if (end === -1 || message.length > maxMessageLength) return null
  const head = readHead(message.slice(0, end))
  if (head === null) return null
  const { at, application, audience, drop, except } = head
  // JSON.parse returns Infinity for numbers out of range, which would make the lag metric throw.
  if (!isFiniteNumber(at) || typeof application !== 'string' || !isAudience(audience)) return null
  return {
    sentAt: at,
    hint: {
      applicationId: application,
      audience,
      text: message.slice(end + 1),
      mayDrop: drop !== false,
      ...(typeof except === 'string' ? { exceptConnection: except } : {}),
    },
  }
}

function readHead(line: string): Record<string, unknown> | null {
  try {
    const head: unknown = JSON.parse(line)
    return head !== null && typeof head === 'object' ? (head as Record<string, unknown>) : null
  } catch {
    return null
  }
}

function isAudience(value: unknown): value is Audience {
  if (value === null || typeof value !== 'object') return false
  const { everyone, users, roles, members } = value as Record<string, unknown>
  if (everyone !== undefined) return everyone === true
  return isStringArray(users) && isStringArray(roles) && typeof members === 'boolean'
}

const isFiniteNumber = (value: unknown): value is number => Number.isFinite(value)
const isStringArray = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string')
