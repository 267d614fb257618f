import type { Resource } from '../resource.ts'

export const tenants: Resource = {
  name: 'tenants',
  one: 'tenant',
  description: 'Tenants: the customer organizations of a project',
  parent: 'project',
  keys: ['slug', 'name'],
  selection: 'id slug name deploymentMode',
  columns: ['slug', 'name', 'deploymentMode', 'id'],
  fields: [
    { name: 'slug', description: 'its short name in addresses, such as acme', only: 'update' },
    { name: 'name', description: 'its name for people', isRequired: true },
    { name: 'deploymentMode', description: 'hosts of its own or not', choices: ['shared', 'dedicated'] },
  ],
  list: { field: 'tenants', parent: 'projectSlug', parentType: 'String!' },
  create: { field: 'createTenant', parent: 'projectId', input: 'CreateTenantInput' },
  update: { field: 'updateTenant', input: 'UpdateTenantInput' },
  delete: { field: 'deleteTenant' },
  example: 'acme --name "Acme Ltd"',
}
