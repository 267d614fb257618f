// Sends a call on: the body as it is or transformed, the headers that pass, the endpoint's credentials; and passes the
// answer back. Bodies that need no transformation are streamed in both directions.
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Machine } from '../../policy/authenticate.ts'
import type { Clock } from '../../platform/clock.ts'
import { AppError, unavailable } from '../../platform/errors.ts'
import { type Held, createHeldBytes } from '../../platform/outbound/held-bytes.ts'
import type { OutboundPools } from '../../platform/outbound/pools.ts'
import { relay } from '../../platform/outbound/relay.ts'
import {
  type BodyLimits,
  type PassedBody,
  arrivedBody,
  checkAnnouncedBody,
  passBody,
  readBody,
} from '../../platform/outbound/request-body.ts'
import type { EndpointsApi } from '../endpoints/index.ts'
import { nextHop } from './hops.pure.ts'
import { withQuery } from './invocation.pure.ts'
import { headersToCaller, headersToUpstream } from './passed-headers.pure.ts'
import type { Recording } from './recording.service.ts'
import type { Target } from './targets.service.ts'

type GatewayLimits = {
  body: BodyLimits
  maxResponseBytes: number
  forwardTimeoutMs: number
  /** Bodies that are transformed, all together. */
  maxHeldBytes: number
}
export type ForwardingDeps = {
  clock: Clock
  endpoints: EndpointsApi
  pools: OutboundPools
  limits: GatewayLimits
}

/** A request of a known machine user, and the answer to it. */
export type Incoming = {
  machine: Machine
  request: IncomingMessage
  requestId: string
  sourceIp: string
  response: ServerResponse
  /** Headers of the answer that are ours. */
  ownHeaders: OutgoingHttpHeaders
  /** Called once, when the answer begins to pass; until then a thrown error can still be answered. */
  onHead: () => void
}
export type Call = { incoming: Incoming; target: Target; query: string; recording: Recording }
type Forwarded = { body: Buffer | PassedBody | null; headers: string[] }

const noneReplaced: ReadonlySet<string> = new Set()
const replacedByTransformation: ReadonlySet<string> = new Set(['content-type', 'content-encoding'])

/** A function that forwards a call; it resolves when the whole answer is on its way to the caller. */
export function createForwarding(deps: ForwardingDeps) {
  const { pools, limits } = deps
  const hold = createHeldBytes(heldLimits(limits))
  const forward = async (call: Call, held: Held): Promise<void> => {
    const { incoming, target, recording } = call
    const { upstream, authorization } = target
    if (upstream === null) throw new AppError('bad_gateway', 'the endpoint has no url to forward to')
    const hop = nextHop(incoming.request.rawHeaders)
    if (hop === null)
      throw new AppError(
        'bad_gateway',
        'the call went round in a circle: its endpoint leads back to the gateway',
      )
    checkAnnouncedBody(incoming.request, limits.body.maxBytes)
    const { body, headers } =
      target.transformationTemplate === ''
        ? unchanged(call, limits.body)
        : await transformed(call, held, deps)
    const method = incoming.request.method as string
    // An answer to TRACE repeats what was sent, and the credentials are not the caller's to see.
    if (authorization !== null && method !== 'TRACE') headers.push('Authorization', authorization)
    headers.push('X-Request-Id', incoming.requestId, ...hop)
    const pool = pools.of(target.projectId, upstream.origin)
    if (pool.underway >= pool.maxUnderway)
      throw unavailable('too many calls to this endpoint are under way; try again')
    await relay(
      {
        pool,
        path: withQuery(upstream.path, call.query),
        method,
        headers,
        body,
        maxResponseBytes: limits.maxResponseBytes,
        deadlineMs: limits.forwardTimeoutMs,
      },
      {
        response: incoming.response,
        headersFor: (received) => {
          recording.keepResponseHeaders(received)
          const passed = Object.assign(headersToCaller(received), incoming.ownHeaders)
          // An answer that overtakes its request: the rest of the body is not waited for.
          if (!incoming.request.complete) passed.connection = 'close'
          return passed
        },
        onHead: incoming.onHead,
        onData: recording.response && ((chunk) => recording.response?.add(chunk)),
        commit: (status) => recording.end({ status, failure: null }),
      },
    )
  }
  return async (call: Call): Promise<void> => {
    const held = hold(call.target.projectId)
    try {
      await forward(call, held)
    } finally {
      held.release()
    }
  }
}

/** No project takes more than a quarter of what may be held; but the largest body fits at any rate. */
const heldLimits = ({ maxHeldBytes, body }: GatewayLimits) => ({
  maxBytes: Math.max(maxHeldBytes, body.maxBytes),
  maxPerOwner: Math.max(maxHeldBytes / 4, body.maxBytes),
})

function unchanged({ incoming: { request }, recording }: Call, limits: BodyLimits): Forwarded {
  const headers = headersToUpstream(request.rawHeaders, noneReplaced)
  const arrived = arrivedBody(request, limits.maxBytes)
  if (arrived !== undefined) {
    if (arrived !== null) recording.request?.add(arrived)
    return { body: arrived, headers }
  }
  const length = request.headers['content-length']
  if (length !== undefined) headers.push('Content-Length', length)
  return { body: passBody(request, limits, (chunk) => recording.request?.add(chunk)), headers }
}

async function transformed(call: Call, held: Held, deps: ForwardingDeps): Promise<Forwarded> {
  const { incoming, target, recording } = call
  const { request, machine } = incoming
  const body = await readBody(request, deps.limits.body, held)
  recording.request?.add(body)
  const { transformationTemplate: template, inputMessageType, outputMessageType, application } = target
  const { id, name, consumeUrl, description, upstream } = target
  const { output, contentType } = await deps.endpoints.render({
    template,
    inputMessageType,
    outputMessageType,
    body,
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
