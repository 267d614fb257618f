import {
  createTenantDocument,
  deleteTenantDocument,
  listTenantsDocument,
  updateTenantDocument,
} from '@manager/client/documents'
import type { Resource } from '../resource.ts'

export const tenants: Resource = {
  name: 'tenants',
  singular: 'tenant',
  description: 'Tenants: the customer organizations of a project',
  parent: 'project',
  keys: ['slug', 'name'],
  columns: ['slug', 'name', 'deploymentMode', 'id'],
  fields: [
    { name: 'slug', description: 'the short name in URLs, such as acme', only: 'update' },
    { name: 'name', description: 'the display name', isRequired: true },
    {
      name: 'deploymentMode',
      description: 'whether the tenant has its own hosts',
      choices: ['shared', 'dedicated'],
    },
  ],
  list: { document: listTenantsDocument, parent: 'projectSlug', parentKey: 'slug' },
  create: { document: createTenantDocument, parent: 'projectId' },
  update: { document: updateTenantDocument },
  delete: { document: deleteTenantDocument },
  isContainer: true,
  example: 'acme --name "Acme Ltd"',
}
