// Operations on endpoints, endpoint access, and the counts of calls and notifications.
import { seedEndpointAccess } from '../kit/endpoints.ts'
import { seedCall } from '../kit/esb-calls.ts'
import { type Operation, type Rest, op } from './operation.ts'
import { developers, maintainers, projectRoles } from './principals.ts'
import { fresh } from './world.ts'

const endpoint: Rest = { make: fresh.endpoint }
const access: Rest = { make: async (world, target) => (await fresh.endpointAccess(world, target)).id }
/** Creates endpoint access and returns two ids in one string, for calls that need both. */
const both: Rest = {
  make: async (world, target) => Object.values(await fresh.endpointAccess(world, target)).join(' '),
}
const endpointAndMachineUser: Rest = {
  make: async (world, target) =>
    `${await fresh.endpoint(world, target)} ${await fresh.machineUser(world, target)}`,
}
/** Creates an endpoint without a URL and a machine user that may call it. The test call is logged and returns 502. */
const testable: Rest = {
  make: async (world, target) => {
    const endpointId = await fresh.endpoint(world, target)
    const machineUserId = await fresh.machineUser(world, target)
    await seedEndpointAccess(world.service.sql, { projectId: target.id, endpointId, machineUserId })
    return `${endpointId} ${machineUserId}`
  },
}
/** Creates an endpoint with a logged call. */
const called: Rest = {
  make: async (world, target) => {
    const endpointId = await fresh.endpoint(world, target)
    const machineUserId = await fresh.machineUser(world, target)
    await seedCall(
      world.service.sql,
      { projectId: target.id, endpointId, machineUserId },
      { requestHeaders: [], responseHeaders: [] },
    )
    return endpointId
  },
}
const split = (ids: string): string[] => ids.split(' ')

const january = 'from: "2026-01-01T00:00:00Z", to: "2026-02-01T00:00:00Z"'

export const endpointOperations: Operation[] = [
  op(
    'Query.endpoints',
    'application',
    projectRoles,
    (t) => `{ endpoints(application: "${t.applicationId}") { id } }`,
  ),
  op(
    'Query.endpoint',
    'application',
    projectRoles,
    (t, id) => `{ endpoint(application: "${t.applicationId}", id: "${id}") { id } }`,
    endpoint,
  ),
  op(
    'Application.endpoints',
    'application',
    projectRoles,
    (t) => `{ application(projectId: "${t.id}", slug: "${t.applicationSlug}") { endpoints { id } } }`,
  ),
  op(
    'Endpoint.application',
    'application',
    projectRoles,
    (t) => `{ endpoints(application: "${t.applicationId}") { application { id } } }`,
    endpoint,
  ),
  op(
    'Mutation.createEndpoint',
    'application',
    maintainers,
    (t, id) => `mutation { createEndpoint(applicationId: "${t.applicationId}",
      input: {name: "x", consumeURL: "/${id}"}) { id } }`,
  ),
  op(
    'Mutation.updateEndpoint',
    'endpoint',
    maintainers,
    (_, id) => `mutation { updateEndpoint(id: "${id}", input: {name: "y"}) { id } }`,
    endpoint,
  ),
  op(
    'Mutation.deleteEndpoint',
    'endpoint',
    maintainers,
    (_, id) => `mutation { deleteEndpoint(id: "${id}") }`,
    endpoint,
  ),
  op(
    'Query.machineUser2endpoints',
    'endpoint',
    projectRoles,
    (_, id) => `{ machineUser2endpoints(endpoint: "${id}") { id } }`,
    endpoint,
  ),
  op(
    'Query.machineUser2endpoint',
    'endpoint',
    projectRoles,
    (_, ids) => {
      const [endpointId, id] = split(ids)
      return `{ machineUser2endpoint(endpoint: "${endpointId}", id: "${id}") { id } }`
    },
    both,
  ),
  ...['machineUser', 'endpoint'].map((field) =>
    op(
      `MachineUser2Endpoint.${field}`,
      'endpoint',
      projectRoles,
      (_, ids) => `{ machineUser2endpoints(endpoint: "${split(ids)[0]}") { ${field} { id } } }`,
      both,
    ),
  ),
  op(
    'Mutation.createMachineUser2Endpoint',
    'endpoint',
    maintainers,
    (_, ids) => {
      const [endpointId, machineUserId] = split(ids)
      const input = `{endpointID: "${endpointId}", machineUserID: "${machineUserId}"}`
      return `mutation { createMachineUser2Endpoint(input: ${input}) { id } }`
    },
    endpointAndMachineUser,
  ),
  op(
    'Mutation.updateMachineUser2Endpoint',
    'endpointAccess',
    maintainers,
    (_, id) => `mutation { updateMachineUser2Endpoint(id: "${id}", input: {enabled: false}) { id } }`,
    access,
  ),
  op(
    'Mutation.deleteMachineUser2Endpoint',
    'endpointAccess',
    maintainers,
    (_, id) => `mutation { deleteMachineUser2Endpoint(id: "${id}") }`,
    access,
  ),
  op(
    'Mutation.previewESBTransform',
    'endpoint',
    ['owner', 'maintainer', 'developer', 'tester'],
    (_, id) =>
      `mutation { previewESBTransform(endpointId: "${id}", input: {body: "", transformationTemplate: "x"}) { output } }`,
    endpoint,
  ),
  op(
    'Query.callSeries',
    'project',
    projectRoles,
    (t) => `{ callSeries(projectId: "${t.id}", ${january}) { count } }`,
  ),
  op(
    'Query.notificationDeliveryCounts',
    'application',
    developers,
    (t) => `{ notificationDeliveryCounts(applicationId: "${t.applicationId}", ${january}) { day } }`,
  ),
  op(
    'Mutation.testEndpoint',
    'endpoint',
    maintainers,
    (_, ids) => {
      const [endpointId, machineUserId] = split(ids)
      return `mutation { testEndpoint(endpointId: "${endpointId}",
        input: {machineUserId: "${machineUserId}", method: "GET"}) { requestId } }`
    },
    testable,
  ),
  op(
    'Query.esbAuditLogs',
    'application',
    projectRoles,
    (t) => `{ esbAuditLogs(applicationId: "${t.applicationId}") { id } }`,
    called,
  ),
  ...[
    'endpoint { id }',
    'application { id }',
    'machineUser { id }',
    'requestHeaders { name }',
    'responseHeaders { name }',
  ].map((field) =>
    op(
      `ESBAuditLog.${field.split(' ')[0]}`,
      'application',
      projectRoles,
      (t, id) => `{ esbAuditLogs(applicationId: "${t.applicationId}", endpointId: "${id}") { ${field} } }`,
      called,
    ),
  ),
]
