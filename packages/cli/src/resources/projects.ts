import type { Resource } from '../resource.ts'

export const projects: Resource = {
  name: 'projects',
  one: 'project',
  description: 'Projects: what everything else belongs to',
  parent: null,
  keys: ['slug', 'name'],
  selection: 'id slug name createdAt',
  columns: ['slug', 'name', 'createdAt', 'id'],
  fields: [
    { name: 'slug', description: 'its short name in addresses, such as shop', only: 'update' },
    { name: 'name', description: 'its name for people', isRequired: true },
  ],
  list: { field: 'projects' },
  create: { field: 'createProject', input: 'CreateProjectInput' },
  update: { field: 'updateProject', input: 'UpdateProjectInput' },
  delete: { field: 'deleteProject' },
  example: 'shop --name "Web shop"',
}
