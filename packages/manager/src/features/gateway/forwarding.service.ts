// Forwards a call with the original or transformed body, the permitted headers and the endpoint's
// credentials, and relays the response. Bodies that need no transformation are streamed in both directions.
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { Machine } from '../../policy/authenticate.ts'
import type { Clock } from '../../platform/clock.ts'
import { AppError, unavailable } from '../../platform/errors.ts'
import { type Lease, createFairShare } from '../../platform/throttle/fair-share.ts'
import type { OutboundPools } from '../../platform/outbound/pools.ts'
import {
  CallerDisconnectedError,
  RelayFailure,
  type RelayRequest,
  type RelayResponse,
  relay,
} from '../../platform/outbound/relay.ts'
import {
  type BodyLimits,
  type BodySource,
  type StreamedBody,
  checkAnnouncedBody,
  readCompleteBody,
  readBody,
  streamBody,
} from '../../platform/outbound/request-body.ts'
import { createTraceHeaders } from '../../platform/tracing/trace-context.ts'
import type { Span, Tracing } from '../../platform/tracing/tracing.ts'
import type { Outcome, Recording } from '../call-log/index.ts'
import type { TransformationsApi } from '../transformations/index.ts'
import { buildHopHeader } from './hops.pure.ts'
import { appendQuery } from './invocation.pure.ts'
import { selectCallerHeaders, selectUpstreamHeaders } from './passed-headers.pure.ts'
import type { Target } from './targets.service.ts'

type GatewayLimits = {
  body: BodyLimits
  maxResponseBytes: number
  forwardTimeoutMs: number
  /** Limit for all transformed bodies in total. */
  maxBufferedBytes: number
}
export type ForwardingDeps = {
  clock: Clock
  tracing: Pick<Tracing, 'startCall'>
  transformations: Pick<TransformationsApi, 'render'>
  pools: OutboundPools
  limits: GatewayLimits
}

/** The part of an HTTP request that forwarding uses. */
export type CallRequest = BodySource & Pick<IncomingMessage, 'method' | 'rawHeaders' | 'url'>
/** A request of an authenticated machine user, and the response to it. */
export type IncomingCall = {
  machine: Machine
  request: CallRequest
  requestId: string
  /** The span of the call. */
  span: Span
  sourceIp: string
  response: RelayResponse
  /** Headers that the Manager adds to the response. */
  ownHeaders: OutgoingHttpHeaders
  /** Called when the endpoint is known. */
  onEndpoint: (id: string) => void
  /** Called before an error is thrown. If it is called several times, only the last call is used. */
  onFailure: (outcome: Outcome) => void
  /**
   * Called once, when the response starts. Before this call, a thrown error can still be sent as a response.
   */
  onHead: () => void
}
export type Call = {
  incomingCall: IncomingCall
  target: Target
  query: string
  recording: Omit<Recording, 'start'>
  /** Shortens the forward timeout. */
  maxDurationMs?: number
}
type ForwardedBody = { body: Buffer | StreamedBody | null; headers: string[] }

const maxWaitingBodies = 1_000
const maxBodyWaitMs = 2_000
const noReplacedHeaders: ReadonlySet<string> = new Set()
const replacedByTransformation: ReadonlySet<string> = new Set(['content-type', 'content-encoding'])

/** Returns a function that forwards a call. It resolves after the last byte is handed to the response stream. */
export function createForwarder(deps: ForwardingDeps) {
  const { pools, limits } = deps
  const buffers = createFairShare({
    // The capacity is at least the size of the largest permitted body.
    capacity: Math.max(limits.maxBufferedBytes, limits.body.maxBytes),
    maxItemSize: limits.body.maxBytes,
    maxWaiting: maxWaitingBodies,
    maxWaitMs: maxBodyWaitMs,
    overloadMessage: 'too many large bodies are being transformed; try again',
  })
  const forward = async (call: Call, bufferLease: Lease): Promise<void> => {
    const { incomingCall, target } = call
    const { upstream, authorization } = target
    if (upstream === null) throw new AppError('bad_gateway', 'the endpoint has no url to forward to')
    const hop = buildHopHeader(incomingCall.request.rawHeaders)
    if (hop === null)
      throw new AppError('bad_gateway', 'loop detected: the endpoint leads back to the gateway')
    checkAnnouncedBody(incomingCall.request, limits.body.maxBytes)
    const { body, headers } =
      target.transformationTemplate === ''
        ? forwardUnchanged(call, limits.body)
        : await transformBody(call, bufferLease, deps)
    const method = incomingCall.request.method as string
    // A response to TRACE echoes the request, and the caller must not receive the credentials.
    if (authorization !== null && method !== 'TRACE') headers.push('Authorization', authorization)
    headers.push('X-Request-Id', incomingCall.requestId, ...hop)
    const pool = pools.getPool(target.projectId, upstream.origin)
    if (pool.inFlight >= pool.maxInFlight)
      throw unavailable('too many calls to this endpoint are in flight; try again')
    const span = deps.tracing.startCall(incomingCall.span, {
      method,
      origin: upstream.origin,
      spanAttributes: { 'manager.endpoint.id': target.id },
    })
    headers.push(...createTraceHeaders(span.context))
    const path = appendQuery(upstream.path, call.query)
    const { maxResponseBytes, forwardTimeoutMs } = limits
    const deadlineMs = Math.min(forwardTimeoutMs, call.maxDurationMs ?? forwardTimeoutMs)
    await relayWithSpan({ pool, path, method, headers, body, maxResponseBytes, deadlineMs }, call, span)
  }
  return async (call: Call): Promise<void> => {
    const bufferLease = buffers.begin([call.target.projectId])
    try {
      await forward(call, bufferLease)
    } finally {
      bufferLease.release()
    }
  }
}

/** Relays the response, and ends the span with the result. */
async function relayWithSpan(
  request: RelayRequest,
  { incomingCall, recording }: Call,
  span: Span,
): Promise<void> {
  let responseStatus: number | undefined
  try {
    await relay(request, {
      response: incomingCall.response,
      createHeaders: (upstreamHeaders) => {
        recording.keepResponseHeaders(upstreamHeaders)
        const responseHeaders = Object.assign(selectCallerHeaders(upstreamHeaders), incomingCall.ownHeaders)
        // If the response arrives before the request is complete, the rest of the request body is not read.
        if (!incomingCall.request.complete) responseHeaders.connection = 'close'
        return responseHeaders
      },
      onHead: incomingCall.onHead,
      onData: recording.response && ((chunk) => recording.response?.add(chunk)),
      commit: (status) => {
        responseStatus = status
        return recording.end({ status, failure: null })
      },
    })
    span.end({ status: responseStatus })
  } catch (error) {
    const isExpectedFailure = error instanceof RelayFailure || error instanceof CallerDisconnectedError
    span.end({ status: responseStatus, failure: isExpectedFailure ? error.message : 'the call was aborted' })
    throw error
  }
}

function forwardUnchanged({ incomingCall: { request }, recording }: Call, limits: BodyLimits): ForwardedBody {
  const headers = selectUpstreamHeaders(request.rawHeaders, noReplacedHeaders)
  const receivedBody = readCompleteBody(request, limits.maxBytes)
  if (receivedBody !== undefined) {
    if (receivedBody !== null) recording.request?.add(receivedBody)
    return { body: receivedBody, headers }
  }
  const length = request.headers['content-length']
  if (length !== undefined) headers.push('Content-Length', length)
  return { body: streamBody(request, limits, (chunk) => recording.request?.add(chunk)), headers }
}

async function transformBody(call: Call, bufferLease: Lease, deps: ForwardingDeps): Promise<ForwardedBody> {
  const { incomingCall, target, recording } = call
  const { request, machine } = incomingCall
  const body = await readBody(request, deps.limits.body, bufferLease)
  recording.request?.add(body)
  const { transformationTemplate: template, inputMessageType, outputMessageType, application } = target
  const { id, name, consumeUrl, description, upstream, projectId } = target
  const { output, contentType } = await deps.transformations.render({
    template,
    inputMessageType,
    outputMessageType,
    body,
    projectId,
    application,
    endpoint: { id, name, consumeUrl, description, url: upstream?.url ?? null },
    user: machine,
    at: deps.clock.now(),
  })
  recording.markTransformed()
  const headers = selectUpstreamHeaders(request.rawHeaders, replacedByTransformation)
  headers.push('Content-Type', contentType)
  return { body: output, headers }
}
