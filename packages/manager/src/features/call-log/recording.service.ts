// The log level of an endpoint decides what the log stores about a call: nothing, only metadata, or metadata with
// headers and bodies, in which secrets are redacted.
import type { IncomingHttpHeaders } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../platform/clock.ts'
import { newId } from '../../platform/ids.ts'
import { redactBody, redactHeaders, redactUrl } from './redact.pure.ts'
import { type Captured, createCaptured } from './captured.pure.ts'
import type { CallLog } from './call-log.service.ts'

export type RecordingDeps = { clock: Clock; callLog: CallLog }
/** The result of a call: the status that the caller received, and the cause of a failure. */
export type Outcome = { status: number | null; failure: string | null }
/** Records one call. Depending on the log level, some operations do nothing. */
export type Recording = {
  /** Logs the call; throws 503 when that is not possible. */
  start(): Promise<void>
  /** Logs the end of the call once. Throws 503 when that is not possible. */
  end(outcome: Outcome): Promise<void>
  hasEnded(): boolean
  markTransformed(): void
  /** Captures the bytes of the request or response while they are forwarded. Null if they are not stored. */
  request: Captured | null
  response: Captured | null
  keepResponseHeaders(headers: IncomingHttpHeaders): void
}

export type RecordedCall = {
  requestId: string
  endpoint: { id: string; projectId: string; logLevel: string }
  isRefused: boolean
  machineUserId: string
  sourceIp: string
  method: string
  path: string
  targetUrl: string
  /** The headers as received, as a flat list of names and values. */
  headers: readonly string[]
}

/** Returns a function that creates the recording of a call. */
export function createRecordings(deps: RecordingDeps) {
  return (recorded: RecordedCall): Recording => {
    if (recorded.endpoint.logLevel === 'NONE') return noRecording
    return recordingOf(recorded, deps)
  }
}

const done = Promise.resolve()
const noRecording: Recording = {
  start: () => done,
  end: () => done,
  hasEnded: () => false,
  markTransformed: () => {},
  request: null,
  response: null,
  keepResponseHeaders: () => {},
}

function recordingOf(recorded: RecordedCall, deps: RecordingDeps): Recording {
  const { endpoint } = recorded
  const isFull = endpoint.logLevel === 'FULL'
  const [request, response] = isFull ? [createCaptured(), createCaptured()] : [null, null]
  const started = performance.now()
  const call = {
    id: newId(),
    requestId: recorded.requestId,
    createdAt: deps.clock.now().toISOString(),
    projectId: endpoint.projectId,
    endpointId: endpoint.id,
    machineUserId: recorded.machineUserId,
    sourceIp: recorded.sourceIp,
    method: recorded.method,
    path: recorded.path,
    targetUrl: redacted(() => redactUrl(recorded.targetUrl), notStored),
    isRefused: recorded.isRefused,
  }
  let [transformed, hasEnded] = [false, false]
  let responseHeaders: IncomingHttpHeaders | null = null
  return {
    start: () => deps.callLog.start(call),
    end: async ({ status, failure }) => {
      hasEnded = true
      const durationMs = Math.round(performance.now() - started)
      const contents =
        request === null || response === null
          ? null
          : await contentsOf({
              request: { headers: recorded.headers, body: request },
              response: responseHeaders && { headers: flat(responseHeaders), body: response },
            })
      await deps.callLog.end({ call, status, durationMs, transformed, failure, contents })
    },
    hasEnded: () => hasEnded,
    markTransformed: () => void (transformed = true),
    request,
    response,
    keepResponseHeaders: (headers) => void (responseHeaders = isFull ? headers : null),
  }
}

type Message = { headers: readonly string[]; body: Captured }

/**
 * Redacts both messages. It yields between the parts, because redacting all of them in one turn would block other
 * requests.
 */
async function contentsOf({ request, response }: { request: Message; response: Message | null }) {
  const requestHeaders = headersText(request.headers)
  await nextTurn()
  const requestBody = bodyText(request)
  await nextTurn()
  const responseHeaders = response && headersText(response.headers)
  await nextTurn()
  return { requestHeaders, requestBody, responseHeaders, responseBody: response && bodyText(response) }
}

/** Returns `otherwise` if redaction fails, so that the row is written without the content. */
function redacted<T>(redact: () => T, otherwise: T): T {
  try {
    return redact()
  } catch {
    return otherwise
  }
}
const notStored = '[not stored: redaction failed]'

const headersText = (raw: readonly string[]) =>
  redacted(() => redactHeaders(raw), [{ name: notStored, value: '' }])

function bodyText({ headers: raw, body }: Message): string {
  const headers = headersOf(raw)
  return redacted(
    () =>
      redactBody(body.start(), {
        totalBytes: body.totalBytes(),
        contentType: headers['content-type'] ?? null,
        contentEncoding: headers['content-encoding'] ?? null,
      }),
    notStored,
  )
}

function headersOf(raw: readonly string[]): IncomingHttpHeaders {
  const headers: IncomingHttpHeaders = {}
  for (let i = 0; i < raw.length; i += 2) headers[(raw[i] as string).toLowerCase()] = raw[i + 1]
  return headers
}

const flat = (headers: IncomingHttpHeaders): string[] =>
  Object.entries(headers).flatMap(([name, value]) => [value ?? []].flat().flatMap((one) => [name, one]))
