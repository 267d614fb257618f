import {
  createTenantRoleDefinitionDocument,
  deleteTenantRoleDefinitionDocument,
  listTenantRoleDefinitionsDocument,
  updateTenantRoleDefinitionDocument,
} from '@manager/client/documents'
import type { Resource } from '../resource.ts'

export const roles: Resource = {
  name: 'roles',
  singular: 'role',
  description: 'Roles: the role definitions of a tenant and their permissions',
  parent: 'tenant',
  keys: ['name'],
  columns: ['name', 'permissions', 'seeded', 'id'],
  fields: [
    { name: 'name', description: 'the name', only: 'update' },
    {
      name: 'permissions',
      description: 'permissions, separated by commas: apps.read, apps.configure, members, invites',
      kind: 'list',
      isRequired: true,
    },
  ],
  list: { document: listTenantRoleDefinitionsDocument, parent: 'tenantId' },
  create: { document: createTenantRoleDefinitionDocument, parent: 'tenantId' },
  update: { document: updateTenantRoleDefinitionDocument },
  delete: { document: deleteTenantRoleDefinitionDocument },
  example: 'support --permissions apps.read,members',
}
