// What the log keeps of one call, by the endpoint's log level: nothing, the facts, or also headers and bodies with what
// is sensitive in them replaced.
import type { IncomingHttpHeaders } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../platform/clock.ts'
import { newId } from '../../platform/ids.ts'
import { redactBody, redactHeaders, redactUrl } from './redact.pure.ts'
import { type Captured, createCaptured } from './captured.pure.ts'
import type { CallLog } from './call-log.service.ts'

export type RecordingDeps = { clock: Clock; callLog: CallLog }
export type Outcome = { status: number | null; failure: string | null }
export type Recording = {
  /** Logs the call; throws 503 when that is not possible. */
  begin(): Promise<void>
  /** Logs its end, once; throws 503 when that is not possible. */
  end(outcome: Outcome): Promise<void>
  hasEnded(): boolean
  markTransformed(): void
  /** Takes bytes of the request or response as they pass; null when they are not kept. */
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
  /** Flat, as they came. */
  headers: readonly string[]
}

/** Starts recordings of calls. */
export function createRecordings(deps: RecordingDeps) {
  return (recorded: RecordedCall): Recording => {
    if (recorded.endpoint.logLevel === 'NONE') return nothingRecorded
    return recordingOf(recorded, deps)
  }
}

const done = Promise.resolve()
const nothingRecorded: Recording = {
  begin: () => done,
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
    targetUrl: redacted(() => redactUrl(recorded.targetUrl), notKept),
    isRefused: recorded.isRefused,
  }
  let [transformed, hasEnded] = [false, false]
  let responseHeaders: IncomingHttpHeaders | null = null
  return {
    begin: () => deps.callLog.begin(call),
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

/** What the log shows of both messages; redacting all of it in one turn would block other requests. */
async function contentsOf({ request, response }: { request: Message; response: Message | null }) {
  const requestHeaders = headersText(request.headers)
  await nextTurn()
  const requestBody = bodyText(request)
  await nextTurn()
  const responseHeaders = response && headersText(response.headers)
  await nextTurn()
  return { requestHeaders, requestBody, responseHeaders, responseBody: response && bodyText(response) }
}

/** What cannot be redacted is not kept; the row is. */
function redacted<T>(redact: () => T, otherwise: T): T {
  try {
    return redact()
  } catch {
    return otherwise
  }
}
const notKept = '[not kept: it could not be redacted]'

const headersText = (raw: readonly string[]) =>
  redacted(() => redactHeaders(raw), [{ name: notKept, value: '' }])

function bodyText({ headers: raw, body }: Message): string {
  const headers = headersOf(raw)
  return redacted(
    () =>
      redactBody(body.start(), {
        totalBytes: body.totalBytes(),
        contentType: headers['content-type'] ?? null,
        contentEncoding: headers['content-encoding'] ?? null,
      }),
    notKept,
  )
}

function headersOf(raw: readonly string[]): IncomingHttpHeaders {
  const headers: IncomingHttpHeaders = {}
  for (let i = 0; i < raw.length; i += 2) headers[(raw[i] as string).toLowerCase()] = raw[i + 1]
  return headers
}

const flat = (headers: IncomingHttpHeaders): string[] =>
  Object.entries(headers).flatMap(([name, value]) => [value ?? []].flat().flatMap((one) => [name, one]))
