import { listPiletsDocument } from '@manager/client/documents'
import type { Resource } from '../resource.ts'

export const pilets: Resource = {
  name: 'pilets',
  one: 'pilet',
  description: 'Pilets: the packages that a frontend is assembled from',
  parent: 'project',
  // A version is named as npm does it: cart@1.2.0.
  keys: ['reference'],
  columns: ['name', 'version', 'enabled', 'size', 'createdAt', 'id'],
  fields: [],
  list: { document: listPiletsDocument, parent: 'projectId', row: 'packages', hasFilters: false },
}
