import type { Resource } from '../resource.ts'

export const environments: Resource = {
  name: 'environments',
  one: 'environment',
  description: 'Environments of a project: dev, qas and run',
  parent: 'project',
  keys: ['name'],
  selection: 'id name displayName protected createdAt',
  columns: ['name', 'displayName', 'protected', 'id'],
  fields: [],
  list: { field: 'environments', parent: 'projectId' },
}
