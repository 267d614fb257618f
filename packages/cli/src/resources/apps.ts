import {
  createApplicationDocument,
  deleteApplicationDocument,
  listApplicationsDocument,
  updateApplicationDocument,
} from '@manager/client/documents'
import type { Resource } from '../resource.ts'

export const apps: Resource = {
  name: 'apps',
  singular: 'app',
  aliases: ['applications', 'application'],
  description: 'Apps: the applications of a project',
  parent: 'project',
  keys: ['slug', 'name'],
  columns: ['slug', 'name', 'description', 'id'],
  fields: [
    { name: 'slug', description: 'the short name in URLs, such as web', only: 'update' },
    { name: 'name', description: 'the display name', isRequired: true },
    { name: 'description', description: 'a short description' },
  ],
  list: { document: listApplicationsDocument, parent: 'projectSlug', parentKey: 'slug' },
  create: { document: createApplicationDocument, parent: 'projectId' },
  update: { document: updateApplicationDocument },
  delete: { document: deleteApplicationDocument },
  isContainer: true,
  example: 'web --name "Web shop"',
}
