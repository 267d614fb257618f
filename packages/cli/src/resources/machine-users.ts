import {
  createMachineUserDocument,
  deleteMachineUserDocument,
  listMachineUsersDocument,
  updateMachineUserDocument,
} from '@manager/client/documents'
import type { Resource } from '../resource.ts'

export const machineUsers: Resource = {
  name: 'machine-users',
  singular: 'machine user',
  aliases: ['machine-user'],
  description: 'Machine users: the accounts of backends in an environment',
  parent: 'environment',
  keys: ['name', 'username'],
  columns: ['name', 'username', 'enabled', 'lastRotatedAt', 'id'],
  fields: [
    { name: 'name', description: 'the name', only: 'update' },
    { name: 'username', description: 'the user name, for Basic authentication', only: 'create' },
    {
      name: 'hashedKey',
      option: 'password',
      description: 'a file with the password, for Basic authentication',
      kind: 'secret',
      only: 'create',
    },
    { name: 'enabled', description: 'whether the machine user can sign in', kind: 'boolean' },
  ],
  list: { document: listMachineUsersDocument, parent: 'environment' },
  create: {
    document: createMachineUserDocument,
    parent: 'environmentId',
    row: 'machineUser',
    secret: 'generatedToken',
    defaultFields: { hashedKey: '__GENERATE_TOKEN__' },
  },
  update: { document: updateMachineUserDocument },
  delete: { document: deleteMachineUserDocument },
  example: 'billing --token-file billing.token',
}
