// Operations on deployments, their specifications and registered backends.
import { randomUUID } from 'node:crypto'
import type { SeededProject } from '@manager/harness/seed.ts'
import { seedBackend } from '../kit/backends.ts'
import { seedSpecification } from '../kit/deployments.ts'
import { type Operation, type Rest, op } from './operation.ts'
import { developers, maintainers, projectRoles } from './principals.ts'
import { fresh } from './world.ts'

/** Creates a specification for a new application, because each application and environment can have only one. */
const specification: Rest = {
  make: async (world, target) => {
    const applicationId = await fresh.application(world, target)
    return seedSpecification(world.service.sql, { id: target.id, applicationId })
  },
}
/** Seeds the specification for the project's own application in the environment `run`. */
const listed: Rest = {
  make: ({ service: { sql } }, target) => seedSpecification(sql, target, { environment: 'run' }),
}
const withoutAny: Rest = {
  make: async ({ service: { sql } }, target) => {
    await sql.query('delete from deployment_specifications where application_id = $1', [target.applicationId])
    return target.environmentId
  },
}
const linked = (link: string) =>
  op(
    `DeploymentSpecification.${link}`,
    // The specification is found through the application, which its members can see.
    'application',
    projectRoles,
    (t) => `{ deploymentSpecifications(application: "${t.applicationId}") { ${link} { id } } }`,
    listed,
  )

const deployment = (t: SeededProject): string =>
  `applicationId: "${t.applicationId}", environmentId: "${t.environmentId}"`
// The service of the matrix has no orchestrator, so even a permitted wake fails.
const eligible: Rest = {
  make: ({ service: { sql } }, target) => seedSpecification(sql, target, { scaleToZero: true }),
  alwaysFailsWith: /^no orchestrator is configured/,
}
const linkedToBackend = (link: string) =>
  op(
    `Backend.${link}`,
    'application',
    projectRoles,
    (t) => `{ backends(applicationId: "${t.applicationId}") { ${link} { id } } }`,
    { make: ({ service: { sql } }, target) => seedBackend(sql, target) },
  )

export const deploymentOperations: Operation[] = [
  op(
    'Query.deploymentReadiness',
    'application',
    projectRoles,
    (t) => `{ deploymentReadiness(${deployment(t)}) { ready } }`,
  ),
  op(
    'Mutation.wakeDeployment',
    'application',
    [...developers, 'tester'],
    (t) => `mutation { wakeDeployment(${deployment(t)}) { success } }`,
    eligible,
  ),
  op(
    'Query.deploymentSpecifications',
    'application',
    projectRoles,
    (t) => `{ deploymentSpecifications(application: "${t.applicationId}") { id } }`,
  ),
  op(
    'Query.deploymentSpecification',
    'deploymentSpecification',
    projectRoles,
    (_, id) => `{ deploymentSpecification(id: "${id}") { id } }`,
    specification,
  ),
  linked('application'),
  linked('environment'),
  op(
    'Query.backends',
    'application',
    projectRoles,
    (t) => `{ backends(applicationId: "${t.applicationId}") { id } }`,
  ),
  linkedToBackend('application'),
  linkedToBackend('environment'),
  linkedToBackend('machineUser'),
  op(
    'Mutation.createDeploymentSpecification',
    'application',
    maintainers,
    (t, environmentId) => `mutation { createDeploymentSpecification(applicationId: "${t.applicationId}",
      input: {environmentId: "${environmentId}", workload: "shop/web", image: "web:1"}) { id } }`,
    withoutAny,
  ),
  op(
    'Mutation.updateDeploymentSpecification',
    'deploymentSpecification',
    maintainers,
    (_, id) =>
      `mutation { updateDeploymentSpecification(id: "${id}", input: {version: "${randomUUID()}"}) { id } }`,
    specification,
  ),
  op(
    'Mutation.deleteDeploymentSpecification',
    'deploymentSpecification',
    maintainers,
    (_, id) => `mutation { deleteDeploymentSpecification(id: "${id}") }`,
    specification,
  ),
]
