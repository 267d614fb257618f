import {
  createTenantDocument,
  deleteTenantDocument,
  listTenantsDocument,
  updateTenantDocument,
} from '@manager/client/documents'
import type { Resource } from '../resource.ts'

export const tenants: Resource = {
  name: 'tenants',
  one: 'tenant',
  description: 'Tenants: the customer organizations of a project',
  parent: 'project',
  keys: ['slug', 'name'],
  columns: ['slug', 'name', 'deploymentMode', 'id'],
  fields: [
    { name: 'slug', description: 'its short name in addresses, such as acme', only: 'update' },
    { name: 'name', description: 'its name for people', isRequired: true },
    { name: 'deploymentMode', description: 'hosts of its own or not', choices: ['shared', 'dedicated'] },
  ],
  list: { document: listTenantsDocument, parent: 'projectSlug', parentKey: 'slug' },
  create: { document: createTenantDocument, parent: 'projectId' },
  update: { document: updateTenantDocument },
  delete: { document: deleteTenantDocument },
  isContainer: true,
  example: 'acme --name "Acme Ltd"',
}
