import type { Resolvers } from '../../generated/graphql.ts'
import type { DeploymentOperations } from './deployment-operations.service.ts'
import { loadRow } from '../../platform/graphql/loaders.ts'
import type { SpecificationsService } from './specifications.service.ts'

/** Creates the GraphQL resolvers for deployment specifications, and for waking deployments. */
export function createDeploymentsResolvers(service: SpecificationsService, operations: DeploymentOperations) {
  return {
    Query: {
      deploymentSpecifications: (_parent, { application, ...args }) => service.list(application, args),
      deploymentReadiness: (_parent, ids) => operations.readiness(ids),
      deploymentSpecification: (_parent, { id }, context) =>
        loadRow(context, 'deployment specification', id, service.findMany),
    },
    Mutation: {
      createDeploymentSpecification: (_parent, { applicationId, input }, { actor }) =>
        service.create(actor, applicationId, input),
      updateDeploymentSpecification: (_parent, { id, input }, { actor }) => service.update(actor, id, input),
      deleteDeploymentSpecification: (_parent, { id, expectedRevision }, { actor }) =>
        service.delete(actor, id, expectedRevision),
      wakeDeployment: (_parent, ids, { actor }) => operations.wake(actor, ids),
    },
  } satisfies Resolvers
}
