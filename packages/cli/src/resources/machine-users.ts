import type { Resource } from '../resource.ts'

export const machineUsers: Resource = {
  name: 'machine-users',
  one: 'machine user',
  aliases: ['machine-user'],
  description: 'Machine users: the accounts of backends in an environment',
  parent: 'environment',
  keys: ['name', 'username'],
  selection: 'id name username enabled tokenPrefix lastRotatedAt createdAt',
  columns: ['name', 'username', 'enabled', 'lastRotatedAt', 'id'],
  fields: [
    { name: 'name', description: 'its name', only: 'update' },
    { name: 'username', description: 'the user name, for Basic authentication', only: 'create' },
    {
      name: 'hashedKey',
      option: 'password',
      description: 'a file with the password, for Basic authentication',
      kind: 'secret',
      only: 'create',
    },
    { name: 'enabled', description: 'whether it may sign in', kind: 'boolean' },
  ],
  list: { field: 'machineUsers', parent: 'environment' },
  create: {
    field: 'createMachineUserWithCredentials',
    parent: 'environmentId',
    input: 'CreateMachineUserInput',
    row: 'machineUser',
    secret: 'generatedToken',
    fixed: { hashedKey: '__GENERATE_TOKEN__' },
  },
  update: { field: 'updateMachineUser', input: 'UpdateMachineUserInput' },
  delete: { field: 'deleteMachineUser' },
  example: 'billing --token-file billing.token',
}
