import { listEnvironmentsDocument } from '@manager/client/documents'
import type { Resource } from '../resource.ts'

export const environments: Resource = {
  name: 'environments',
  singular: 'environment',
  description: 'Environments of a project: dev, qas and run',
  parent: 'project',
  keys: ['name'],
  columns: ['name', 'displayName', 'protected', 'id'],
  fields: [],
  list: { document: listEnvironmentsDocument, parent: 'projectId' },
}
