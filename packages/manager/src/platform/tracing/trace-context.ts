// Reads and writes the W3C Trace Context headers traceparent and tracestate. Malformed headers are ignored. A valid
// context is passed on even if tracing is off.
import type { IncomingHttpHeaders } from 'node:http'

/** A trace and the span in it that is the parent of further spans. */
export type TraceContext = {
  /** 32 hexadecimal digits. */
  traceId: string
  /** 16 hexadecimal digits. */
  spanId: string
  flags: number
  /** The tracestate of the request; empty if there is none. */
  state: string
}

export const sampledFlag = 1
// The flags for sampled and for a random trace id. Other flags have no meaning yet and are not passed on.
const knownFlags = 3
const parentPattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/
const parentLength = 55
const maxStateLength = 512
const maxStateMembers = 32
const memberPattern = /^[a-z0-9][a-z0-9_*/@-]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{1,256}$/

/** Returns the context of a request, or null if it is missing or malformed. */
export function readTraceContext({ traceparent, tracestate }: IncomingHttpHeaders): TraceContext | null {
  // A header that is sent twice contains a comma and is malformed.
  if (typeof traceparent !== 'string' || traceparent.length < parentLength) return null
  const [, version, traceId = '', spanId = '', flags = ''] =
    parentPattern.exec(traceparent.slice(0, parentLength)) ?? []
  if (version === undefined || version === 'ff' || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return null
  // Later versions may add fields.
  if (traceparent.length > parentLength && (version === '00' || traceparent[parentLength] !== '-'))
    return null
  return { traceId, spanId, flags: Number.parseInt(flags, 16) & knownFlags, state: readState(tracestate) }
}

/** Returns the tracestate members unchanged, or an empty string if the header is too long or malformed. */
function readState(header: string | string[] | undefined): string {
  if (typeof header !== 'string' || header.length > maxStateLength) return ''
  const members = header
    .split(',')
    .map((member) => member.trim())
    .filter((member) => member !== '')
  return members.length <= maxStateMembers && members.every((member) => memberPattern.test(member))
    ? members.join(',')
    : ''
}

/** Returns the headers that propagate a context: name, value, name, value …; empty without a context. */
export function createTraceHeaders(context: TraceContext | null): string[] {
  if (context === null) return []
  const { traceId, spanId, flags, state } = context
  const parent = `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`
  return state === '' ? ['traceparent', parent] : ['traceparent', parent, 'tracestate', state]
}
