// The log level of an endpoint determines what the log stores about a call: nothing, only metadata, or
// metadata with redacted headers and bodies.
import type { IncomingHttpHeaders } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../platform/clock.ts'
import { newId } from '../../platform/ids.ts'
import { redactBody, redactHeaders, redactUrl } from './redact.pure.ts'
import { type BodyCapture, createBodyCapture } from './captured.pure.ts'
import type { CallLog, StartWork } from './call-log.service.ts'
import type { EndedCall } from './call-log.store.ts'

export type RecordingDeps = { clock: Clock; callLog: CallLog }
/** The result of a call: the status that the caller received, and the cause of a failure. */
export type Outcome = { status: number | null; failure: string | null }
/** Records one call. The log level of the endpoint determines which of these functions have an effect. */
export type Recording = {
  /** Logs the start of the call. Throws 503 if that is not possible. */
  start(): Promise<void>
  /** Logs the end of the call. Throws 503 if that is not possible. */
  end(outcome: Outcome): Promise<void>
  hasEnded(): boolean
  markTransformed(): void
  /**
   * Captures the bytes of the request or response while they are forwarded. Null if bodies are not stored.
   */
  request: BodyCapture | null
  response: BodyCapture | null
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
  /** The received headers, as a flat list of names and values. */
  headers: readonly string[]
}

/** The logged end of a test call, with redacted headers and bodies. */
export type TestResult = Omit<EndedCall, 'call'>
/** Records a test call, at every log level. The result has headers and bodies even if the log does not store them. */
export type TestRecording = Omit<Recording, 'start'> & {
  /** Logs the start of the call in one transaction with `work`, which calls `insertCall`. */
  startInTransaction(work: StartWork): Promise<void>
  /** Null until the end of the call is logged. */
  readResult(): TestResult | null
}

/** Returns functions that create the recording of a call. */
export function createRecorders(deps: RecordingDeps) {
  return {
    record: (details: RecordedCall): Recording => {
      if (details.endpoint.logLevel === 'NONE') return noRecording
      return createRecording(details, false, deps)
    },
    recordTest: (details: RecordedCall): TestRecording => createRecording(details, true, deps),
  }
}

const resolvedPromise = Promise.resolve()
const noRecording: Recording = {
  start: () => resolvedPromise,
  end: () => resolvedPromise,
  hasEnded: () => false,
  markTransformed: () => {},
  request: null,
  response: null,
  keepResponseHeaders: () => {},
}

function createRecording(
  details: RecordedCall,
  isTest: boolean,
  deps: RecordingDeps,
): Recording & TestRecording {
  const { endpoint } = details
  const isFull = endpoint.logLevel === 'FULL'
  const isCaptured = isFull || isTest
  const [request, response] = isCaptured ? [createBodyCapture(), createBodyCapture()] : [null, null]
  const startMs = performance.now()
  const call = {
    id: newId(),
    requestId: details.requestId,
    createdAt: deps.clock.now().toISOString(),
    projectId: endpoint.projectId,
    endpointId: endpoint.id,
    machineUserId: details.machineUserId,
    sourceIp: details.sourceIp,
    method: details.method,
    path: details.path,
    targetUrl: tryRedact(() => redactUrl(details.targetUrl), notStored),
    isRefused: details.isRefused,
    isTest,
  }
  let [isTransformed, hasEnded] = [false, false]
  let responseHeaders: IncomingHttpHeaders | null = null
  let result: TestResult | null = null
  return {
    start: () => deps.callLog.start(call),
    startInTransaction: (work) => deps.callLog.startInTransaction(call, work),
    end: async ({ status, failure }) => {
      hasEnded = true
      const durationMs = Math.round(performance.now() - startMs)
      const contents =
        request === null || response === null
          ? null
          : await redactContents({
              request: { headers: details.headers, body: request },
              response: responseHeaders && { headers: flattenHeaders(responseHeaders), body: response },
            })
      const end = { status, durationMs, transformed: isTransformed, failure }
      await deps.callLog.end({ call, ...end, contents: isFull ? contents : null })
      result = { ...end, contents }
    },
    readResult: () => result,
    hasEnded: () => hasEnded,
    markTransformed: () => void (isTransformed = true),
    request,
    response,
    keepResponseHeaders: (headers) => void (responseHeaders = isCaptured ? headers : null),
  }
}

type Message = { headers: readonly string[]; body: BodyCapture }

/**
 * Redacts both messages. Yields to the event loop between the parts, because redacting all parts without a pause would
 * block other requests.
 */
async function redactContents({ request, response }: { request: Message; response: Message | null }) {
  const requestHeaders = redactHeaderList(request.headers)
  await nextTurn()
  const requestBody = redactMessageBody(request)
  await nextTurn()
  const responseHeaders = response && redactHeaderList(response.headers)
  await nextTurn()
  return {
    requestHeaders,
    requestBody,
    responseHeaders,
    responseBody: response && redactMessageBody(response),
  }
}

/** Returns `otherwise` if redaction fails, so that the row can be written without the redacted part. */
function tryRedact<T>(redact: () => T, otherwise: T): T {
  try {
    return redact()
  } catch {
    return otherwise
  }
}
const notStored = '[not stored: redaction failed]'

const redactHeaderList = (raw: readonly string[]) =>
  tryRedact(() => redactHeaders(raw), [{ name: notStored, value: '' }])

function redactMessageBody({ headers: raw, body }: Message): string {
  const headers = parseHeaders(raw)
  return tryRedact(
    () =>
      redactBody(body.start(), {
        totalBytes: body.totalBytes(),
        contentType: headers['content-type'] ?? null,
        contentEncoding: headers['content-encoding'] ?? null,
      }),
    notStored,
  )
}

function parseHeaders(raw: readonly string[]): IncomingHttpHeaders {
  const headers: IncomingHttpHeaders = {}
  for (let i = 0; i < raw.length; i += 2) headers[(raw[i] as string).toLowerCase()] = raw[i + 1]
  return headers
}

const flattenHeaders = (headers: IncomingHttpHeaders): string[] =>
  Object.entries(headers).flatMap(([name, value]) => [value ?? []].flat().flatMap((one) => [name, one]))
