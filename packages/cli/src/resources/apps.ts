import {
  createApplicationDocument,
  deleteApplicationDocument,
  listApplicationsDocument,
  updateApplicationDocument,
} from '@manager/client/documents'
import type { Resource } from '../resource.ts'

export const apps: Resource = {
  name: 'apps',
  one: 'app',
  aliases: ['applications', 'application'],
  description: 'Apps: the applications of a project',
  parent: 'project',
  keys: ['slug', 'name'],
  columns: ['slug', 'name', 'description', 'id'],
  fields: [
    { name: 'slug', description: 'its short name in addresses, such as web', only: 'update' },
    { name: 'name', description: 'its name for people', isRequired: true },
    { name: 'description', description: 'what it is' },
  ],
  list: { document: listApplicationsDocument, parent: 'projectSlug', parentKey: 'slug' },
  create: { document: createApplicationDocument, parent: 'projectId' },
  update: { document: updateApplicationDocument },
  delete: { document: deleteApplicationDocument },
  isContainer: true,
  example: 'web --name "Web shop"',
}
