// Makes a test call to an endpoint for a person, on behalf of a machine user. One transaction checks the rights again,
// logs the start of the call and appends the audit row. The call is forwarded after the commit, like any other call.
import type { Audit, AuditEvent } from '../../platform/audit/append.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { conflict, orNotFound, rateLimited } from '../../platform/errors.ts'
import { newRequestId, parseUuid } from '../../platform/ids.ts'
import type { RateLimit } from '../../platform/throttle/rate-limit.ts'
import type { Tracing } from '../../platform/tracing/tracing.ts'
import type { Actor } from '../../policy/actor.ts'
import { recheckPermission } from '../../policy/recheck.ts'
import type { TestRecording, TestResult } from '../call-log/index.ts'
import type { IncomingCall } from './forwarding.service.ts'
import { type GatewayDeps, type GatewayParts, buildCallDetails } from './gateway.service.ts'
import type { Target } from './targets.service.ts'
import * as store from './test-calls.store.ts'
import {
  type TestCallInput,
  type TestRequest,
  checkTestRequest,
  createDiscardedResponse,
  createTestRequest,
} from './test-request.service.ts'

export type TestCallsDeps = GatewayDeps & {
  db: Db
  audit: Audit
  tracing: Tracing
  /** Limits the test calls of a project. */
  limitTestCalls: RateLimit
}
export type TestCallsService = ReturnType<typeof createTestCallsService>
type TestCall = TestResult & { requestId: string }

// A test call occupies one of the few request turns of the person until the call ends.
const maxDurationMs = 30_000
const changedText = 'the endpoint, the machine user or its access has just changed; try again'

export function createTestCallsService(deps: TestCallsDeps, parts: GatewayParts) {
  return {
    /** Makes the call. If the call fails, the failure is part of the result, unless the call could not be logged. */
    call: async (actor: Actor, endpointId: string, input: TestCallInput): Promise<TestCall> => {
      const request = checkTestRequest(input)
      const machineUserId = orNotFound(parseUuid(input.machineUserId), 'machine user')
      const parties = await getEnabledParties(deps.db, endpointId, machineUserId)
      const waitMs = await deps.limitTestCalls(parties.projectId)
      if (waitMs > 0)
        throw rateLimited(
          'too many test calls were made in this project in the last minute; try again',
          waitMs,
        )
      const target = await parts.findTarget({
        projectId: parties.projectId,
        version: parties.endpointsVersion,
        machineUserId,
        applicationId: parties.applicationId,
        path: parties.consumeUrl,
      })
      // A different endpoint may now have the path.
      if (target?.id !== endpointId) throw conflict(changedText)
      const slot = await parts.calls.take([parties.projectId])
      try {
        return await makeCall(deps, parts, { actor, machineUserId, parties, request, target })
      } finally {
        slot.release()
      }
    },
  }
}

async function getEnabledParties(
  db: Db,
  endpointId: string,
  machineUserId: string,
): Promise<store.TestParties> {
  const parties = orNotFound(await store.findTestParties(db.read, endpointId, machineUserId), 'machine user')
  if (!parties.isEndpointEnabled)
    throw conflict('the endpoint is disabled; enable it with updateEndpoint, then test it')
  if (!parties.isMachineEnabled)
    throw conflict('the machine user is disabled; enable it with updateMachineUser, or choose another one')
  if (!parties.isAllowed)
    throw conflict(
      'the machine user has no enabled access to this endpoint; grant it with createMachineUser2Endpoint or updateMachineUser2Endpoint',
    )
  return parties
}

type PreparedCall = {
  actor: Actor
  machineUserId: string
  parties: store.TestParties
  request: TestRequest
  target: Target
}

async function makeCall(deps: TestCallsDeps, parts: GatewayParts, call: PreparedCall): Promise<TestCall> {
  const { request, target, parties } = call
  const span = deps.tracing.startWork('endpoint test', { 'manager.endpoint.id': target.id })
  const incomingCall = createIncomingCall(call, span)
  const { requestId } = incomingCall
  const { applicationId, consumeUrl: path } = parties
  const invocation = { applicationId, path, query: request.query }
  const recording = deps.callLog.recordTest(buildCallDetails(incomingCall, invocation, target))
  try {
    await deps.tracing.runWithin(span, () => logStart(deps, { ...call, recording, requestId }))
    await parts
      .forwardLogged({ incomingCall, target, query: request.query, recording, maxDurationMs })
      .catch((error: unknown) => {
        if (recording.readResult() === null) throw error
      })
    const result = recording.readResult()
    if (result === null) throw new Error('a test call ended without a result')
    span.end({ status: result.status ?? undefined, failure: result.failure ?? undefined })
    return { requestId, ...result }
  } catch (error) {
    span.end({ failure: 'the test call was not completed' })
    throw error
  }
}

function createIncomingCall(
  { actor, machineUserId, parties, request }: PreparedCall,
  span: IncomingCall['span'],
): IncomingCall {
  const { projectId, endpointsVersion } = parties
  return {
    machine: {
      id: machineUserId,
      name: parties.machineName,
      username: parties.machineUsername,
      environmentId: parties.machineEnvironmentId,
      projectId,
      endpointsVersion,
    },
    request: createTestRequest(request),
    requestId: newRequestId(),
    span,
    sourceIp: actor.ipAddress,
    response: createDiscardedResponse(),
    ownHeaders: {},
    onEndpoint: () => undefined,
    onFailure: () => undefined,
    onHead: () => undefined,
  }
}

/**
 * Commits the start of the call and its audit row. Throws if the person or the machine user has lost the right, or if the
 * URL or the credentials of the target are outdated.
 */
function logStart(
  { audit }: TestCallsDeps,
  call: PreparedCall & { recording: TestRecording; requestId: string },
): Promise<void> {
  const { actor, machineUserId, target } = call
  return call.recording.startInTransaction(async (tx, insertCall) => {
    await recheckPermission(tx, actor, 'ENDPOINT_TEST', target.projectId)
    if (!(await store.lockEnabledParties(tx, target, machineUserId))) throw conflict(changedText)
    await insertCall()
    await audit.append(tx, actor, createEvent(call))
  })
}

/** Paths, headers and bodies may contain secrets, so the row does not contain them. */
const createEvent = ({
  target,
  machineUserId,
  requestId,
  request,
}: PreparedCall & { requestId: string }): AuditEvent => ({
  projectId: target.projectId,
  entityType: 'endpoint',
  entityId: target.id,
  action: 'test',
  description: `endpoint ${target.name} tested`,
  classes: { machineUserId: 'public', requestId: 'public', method: 'public' },
  before: null,
  after: { machineUserId, requestId, method: request.method },
})
