import { listUsersDocument } from '@manager/client/documents'
import type { Resource } from '../resource.ts'

export const users: Resource = {
  name: 'users',
  singular: 'user',
  description: 'Users: the people who have signed in or were provisioned',
  parent: null,
  keys: ['externalEmail', 'externalUsername'],
  keyNames: ['e-mail address', 'user name'],
  columns: ['externalUsername', 'externalName', 'externalEmail', 'role', 'active'],
  fields: [],
  list: { document: listUsersDocument },
  example: 'ann@acme.example',
}
