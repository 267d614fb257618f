import {
  createProjectDocument,
  deleteProjectDocument,
  listProjectsDocument,
  updateProjectDocument,
} from '@manager/client/documents'
import type { Resource } from '../resource.ts'

export const projects: Resource = {
  name: 'projects',
  singular: 'project',
  description: 'Projects: the top level that contains everything else',
  parent: null,
  keys: ['slug', 'name'],
  columns: ['slug', 'name', 'createdAt', 'id'],
  fields: [
    { name: 'slug', description: 'its short name in URLs, such as shop', only: 'update' },
    { name: 'name', description: 'its display name', isRequired: true },
  ],
  list: { document: listProjectsDocument },
  create: { document: createProjectDocument },
  update: { document: updateProjectDocument },
  delete: { document: deleteProjectDocument },
  isContainer: true,
  example: 'shop --name "Web shop"',
}
