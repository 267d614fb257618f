// This service forwards a call: the original or transformed body, the permitted headers, and the endpoint's
// credentials. It relays the response. Bodies that need no transformation are streamed in both directions.
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Machine } from '../../policy/authenticate.ts'
import type { Clock } from '../../platform/clock.ts'
import { AppError, unavailable } from '../../platform/errors.ts'
import { type Lease, createFairShare } from '../../platform/throttle/fair-share.ts'
import type { OutboundPools } from '../../platform/outbound/pools.ts'
import { CallerDisconnected, RelayFailure, type RelayRequest, relay } from '../../platform/outbound/relay.ts'
import {
  type BodyLimits,
  type StreamedBody,
  checkAnnouncedBody,
  completeBody,
  readBody,
  streamBody,
} from '../../platform/outbound/request-body.ts'
import { traceHeaders } from '../../platform/tracing/trace-context.ts'
import type { Span, Tracing } from '../../platform/tracing/tracing.ts'
import type { Outcome, Recording } from '../call-log/index.ts'
import type { TransformationsApi } from '../transformations/index.ts'
import { nextHop } from './hops.pure.ts'
import { withQuery } from './invocation.pure.ts'
import { headersToCaller, headersToUpstream } from './passed-headers.pure.ts'
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

/** A request of an authenticated machine user, and its response. */
export type Incoming = {
  machine: Machine
  request: IncomingMessage
  requestId: string
  /** The span of the call. */
  span: Span
  sourceIp: string
  response: ServerResponse
  /** Headers that the Manager adds to the response. */
  ownHeaders: OutgoingHttpHeaders
  /** Called when the endpoint is known. */
  onEndpoint: (id: string) => void
  /** Called before an error is thrown. If it is called several times, the last call counts. */
  onFailure: (outcome: Outcome) => void
  /** Called once, when the response starts. Until then, a thrown error can still be sent as a response. */
  onHead: () => void
}
export type Call = { incoming: Incoming; target: Target; query: string; recording: Recording }
type Forwarded = { body: Buffer | StreamedBody | null; headers: string[] }

const maxWaitingBodies = 1_000
const maxBodyWaitMs = 2_000
const noneReplaced: ReadonlySet<string> = new Set()
const replacedByTransformation: ReadonlySet<string> = new Set(['content-type', 'content-encoding'])

/** Returns a function that forwards a call. It resolves after the last byte is handed to the response stream. */
export function createForwarding(deps: ForwardingDeps) {
  const { pools, limits } = deps
  const buffers = createFairShare({
    // The capacity is at least the size of the largest permitted body.
    capacity: Math.max(limits.maxBufferedBytes, limits.body.maxBytes),
    item: limits.body.maxBytes,
    maxWaiting: maxWaitingBodies,
    maxWaitMs: maxBodyWaitMs,
    full: 'too many large bodies are being transformed; try again',
  })
  const forward = async (call: Call, buffered: Lease): Promise<void> => {
    const { incoming, target } = call
    const { upstream, authorization } = target
    if (upstream === null) throw new AppError('bad_gateway', 'the endpoint has no url to forward to')
    const hop = nextHop(incoming.request.rawHeaders)
    if (hop === null)
      throw new AppError('bad_gateway', 'loop detected: the endpoint leads back to the gateway')
    checkAnnouncedBody(incoming.request, limits.body.maxBytes)
    const { body, headers } =
      target.transformationTemplate === ''
        ? unchanged(call, limits.body)
        : await transformed(call, buffered, deps)
    const method = incoming.request.method as string
    // A response to TRACE echoes the request, and the caller must not see the credentials.
    if (authorization !== null && method !== 'TRACE') headers.push('Authorization', authorization)
    headers.push('X-Request-Id', incoming.requestId, ...hop)
    const pool = pools.of(target.projectId, upstream.origin)
    if (pool.inFlight >= pool.maxInFlight)
      throw unavailable('too many calls to this endpoint are in flight; try again')
    const span = deps.tracing.startCall(incoming.span, {
      method,
      origin: upstream.origin,
      about: { 'manager.endpoint.id': target.id },
    })
    headers.push(...traceHeaders(span.context))
    const path = withQuery(upstream.path, call.query)
    const { maxResponseBytes, forwardTimeoutMs: deadlineMs } = limits
    await relayTraced({ pool, path, method, headers, body, maxResponseBytes, deadlineMs }, call, span)
  }
  return async (call: Call): Promise<void> => {
    const buffered = buffers.begin([call.target.projectId])
    try {
      await forward(call, buffered)
    } finally {
      buffered.release()
    }
  }
}

/** Relays the response, and ends the span with the result. */
async function relayTraced(request: RelayRequest, { incoming, recording }: Call, span: Span): Promise<void> {
  let responseStatus: number | undefined
  try {
    await relay(request, {
      response: incoming.response,
      headersFor: (received) => {
        recording.keepResponseHeaders(received)
        const passed = Object.assign(headersToCaller(received), incoming.ownHeaders)
        // If the response arrives before the request is complete, the rest of the request body is not read.
        if (!incoming.request.complete) passed.connection = 'close'
        return passed
      },
      onHead: incoming.onHead,
      onData: recording.response && ((chunk) => recording.response?.add(chunk)),
      commit: (status) => {
        responseStatus = status
        return recording.end({ status, failure: null })
      },
    })
    span.end({ status: responseStatus })
  } catch (error) {
    const isKnown = error instanceof RelayFailure || error instanceof CallerDisconnected
    span.end({ status: responseStatus, failure: isKnown ? error.message : 'the call was aborted' })
    throw error
  }
}

function unchanged({ incoming: { request }, recording }: Call, limits: BodyLimits): Forwarded {
  const headers = headersToUpstream(request.rawHeaders, noneReplaced)
  const arrived = completeBody(request, limits.maxBytes)
  if (arrived !== undefined) {
    if (arrived !== null) recording.request?.add(arrived)
    return { body: arrived, headers }
  }
  const length = request.headers['content-length']
  if (length !== undefined) headers.push('Content-Length', length)
  return { body: streamBody(request, limits, (chunk) => recording.request?.add(chunk)), headers }
}

async function transformed(call: Call, buffered: Lease, deps: ForwardingDeps): Promise<Forwarded> {
  const { incoming, target, recording } = call
  const { request, machine } = incoming
  const body = await readBody(request, deps.limits.body, buffered)
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
  const headers = headersToUpstream(request.rawHeaders, replacedByTransformation)
  headers.push('Content-Type', contentType)
  return { body: output, headers }
}
