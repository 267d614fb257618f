import { listPiletsDocument } from '@manager/client/documents'
import type { Resource } from '../resource.ts'

export const pilets: Resource = {
  name: 'pilets',
  singular: 'pilet',
  description: 'Pilets: the packages that a frontend is assembled from',
  parent: 'project',
  // Versions are named as in npm: cart@1.2.0.
  keys: ['reference'],
  columns: ['name', 'version', 'enabled', 'size', 'createdAt', 'id'],
  fields: [],
  list: { document: listPiletsDocument, parent: 'projectId', row: 'packages', hasFilters: false },
}
