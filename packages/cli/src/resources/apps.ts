import type { Resource } from '../resource.ts'

export const apps: Resource = {
  name: 'apps',
  one: 'app',
  aliases: ['applications', 'application'],
  description: 'Apps: the applications of a project',
  parent: 'project',
  keys: ['slug', 'name'],
  selection: 'id slug name description createdAt',
  columns: ['slug', 'name', 'description', 'id'],
  fields: [
    { name: 'slug', description: 'its short name in addresses, such as web', only: 'update' },
    { name: 'name', description: 'its name for people', isRequired: true },
    { name: 'description', description: 'what it is' },
  ],
  list: { field: 'applications', parent: 'projectSlug', parentType: 'String!' },
  create: { field: 'createApplication', parent: 'projectId', input: 'CreateApplicationInput' },
  update: { field: 'updateApplication', input: 'UpdateApplicationInput' },
  delete: { field: 'deleteApplication' },
  example: 'web --name "Web shop"',
}
