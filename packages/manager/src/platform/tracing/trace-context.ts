// W3C Trace Context: the headers traceparent and tracestate, read and written. What is malformed is as if it had not
// been sent. Needs no tracing: without it a valid context is passed on.
import type { IncomingHttpHeaders } from 'node:http'

/** A trace, and the span in it that is the parent of what follows. */
export type TraceContext = {
  /** 32 hexadecimal digits. */
  traceId: string
  /** 16 hexadecimal digits. */
  spanId: string
  flags: number
  /** The tracestate as it came; empty when there is none. */
  state: string
}

export const sampledFlag = 1
// Sampled, and random trace id; others have no meaning yet and are not passed on.
const knownFlags = 3
const parentForm = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/
const parentLength = 55
const maxStateLength = 512
const maxStateMembers = 32
const memberForm = /^[a-z0-9][a-z0-9_*/@-]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{1,256}$/

/** The context a request came with; null when it has none, or none that can be read. */
export function readTraceContext({ traceparent, tracestate }: IncomingHttpHeaders): TraceContext | null {
  // Sent twice, it holds a comma and is malformed.
  if (typeof traceparent !== 'string' || traceparent.length < parentLength) return null
  const [, version, traceId = '', spanId = '', flags = ''] =
    parentForm.exec(traceparent.slice(0, parentLength)) ?? []
  if (version === undefined || version === 'ff' || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return null
  // Later versions may add fields.
  if (traceparent.length > parentLength && (version === '00' || traceparent[parentLength] !== '-'))
    return null
  return { traceId, spanId, flags: Number.parseInt(flags, 16) & knownFlags, state: readState(tracestate) }
}

/** Members of other vendors pass as they are; a list that is too long or malformed does not. */
function readState(header: string | string[] | undefined): string {
  if (typeof header !== 'string' || header.length > maxStateLength) return ''
  const members = header
    .split(',')
    .map((member) => member.trim())
    .filter((member) => member !== '')
  return members.length <= maxStateMembers && members.every((member) => memberForm.test(member))
    ? members.join(',')
    : ''
}

/** The headers that tell somebody else of a context: name, value, name, value …; none without a context. */
export function traceHeaders(context: TraceContext | null): string[] {
  if (context === null) return []
  const { traceId, spanId, flags, state } = context
  const parent = `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`
  return state === '' ? ['traceparent', parent] : ['traceparent', parent, 'tracestate', state]
}
