import type { Resolvers } from '../../generated/graphql.ts'
import type { SpecificationsService } from './specifications.service.ts'

/** Creates the GraphQL resolvers for deployment specifications. */
export function createDeploymentsResolvers(service: SpecificationsService) {
  return {
    Query: {
      deploymentSpecifications: (_parent, { application, ...args }) => service.list(application, args),
    },
    Mutation: {
      createDeploymentSpecification: (_parent, { applicationId, input }, { actor }) =>
        service.create(actor, applicationId, input),
      updateDeploymentSpecification: (_parent, { id, input }, { actor }) => service.update(actor, id, input),
      deleteDeploymentSpecification: (_parent, { id, expectedRevision }, { actor }) =>
        service.delete(actor, id, expectedRevision),
    },
  } satisfies Resolvers
}
