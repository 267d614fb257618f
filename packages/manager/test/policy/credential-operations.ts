// Operations on personal access tokens and machine users.
import { type Operation, type Rest, op } from './operation.ts'
import { everyone, maintainers, projectRoles } from './principals.ts'
import { fresh } from './world.ts'

const machineUser: Rest = { make: fresh.machineUser }
// The token belongs to the administrator. Every caller may run these operations, but only the administrator finds the
// token.
const foreignToken: Rest = { make: fresh.accessToken, alwaysFailsWith: /^personal access token not found$/ }

export const credentialOperations: Operation[] = [
  op('Query.myPersonalAccessTokens', 'system', everyone, () => '{ myPersonalAccessTokens { id } }'),
  op('Query.personalAccessTokens', 'system', everyone, () => '{ personalAccessTokens { totalCount } }'),
  op(
    'PersonalAccessToken.user',
    'system',
    everyone,
    () => '{ personalAccessTokens { edges { node { user { id } } } } }',
  ),
  op(
    'Mutation.createPersonalAccessToken',
    'system',
    everyone,
    () => 'mutation { createPersonalAccessToken(name: "x") { token } }',
  ),
  op(
    'Mutation.revokePersonalAccessToken',
    'system',
    everyone,
    (_, id) => `mutation { revokePersonalAccessToken(id: "${id}") { id } }`,
    foreignToken,
  ),
  op(
    'Mutation.deletePersonalAccessToken',
    'system',
    everyone,
    (_, id) => `mutation { deletePersonalAccessToken(id: "${id}") }`,
    foreignToken,
  ),
  op(
    'Query.machineUsers',
    'environment',
    projectRoles,
    (t) => `{ machineUsers(environment: "${t.environmentId}") { id } }`,
  ),
  op('Query.expiringAccessTokens', 'system', everyone, () => '{ expiringAccessTokens { id } }'),
  op(
    'Query.projectMachineUsers',
    'project',
    projectRoles,
    (t) => `{ projectMachineUsers(projectId: "${t.id}") { id } }`,
  ),
  op(
    'Query.machineUsersToRotate',
    'project',
    projectRoles,
    (t) => `{ machineUsersToRotate(projectId: "${t.id}") { id } }`,
  ),
  op(
    'Query.machineUser',
    'machineUser',
    projectRoles,
    (_, id) => `{ machineUser(id: "${id}") { id } }`,
    machineUser,
  ),
  op(
    'MachineUser.environment',
    'environment',
    projectRoles,
    (t) => `{ machineUsers(environment: "${t.environmentId}") { environment { id } } }`,
    machineUser,
  ),
  op(
    'Mutation.createMachineUserWithCredentials',
    'environment',
    maintainers,
    (t) => `mutation { createMachineUserWithCredentials(environmentId: "${t.environmentId}",
      input: {name: "x", hashedKey: "__GENERATE_TOKEN__"}) { generatedToken } }`,
  ),
  op(
    'Mutation.rotateMachineUserToken',
    'machineUser',
    maintainers,
    (_, id) => `mutation { rotateMachineUserToken(id: "${id}") { generatedToken } }`,
    machineUser,
  ),
  op(
    'Mutation.updateMachineUser',
    'machineUser',
    maintainers,
    (_, id) => `mutation { updateMachineUser(id: "${id}", input: {name: "y"}) { id } }`,
    machineUser,
  ),
  op(
    'Mutation.deleteMachineUser',
    'machineUser',
    maintainers,
    (_, id) => `mutation { deleteMachineUser(id: "${id}") }`,
    machineUser,
  ),
]
