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
  description: 'Projects, which contain all other objects',
  parent: null,
  keys: ['slug', 'name'],
  columns: ['slug', 'name', 'createdAt', 'id'],
  fields: [
    { name: 'slug', description: 'the short name in URLs, such as shop', only: 'update' },
    { name: 'name', description: 'the display name', isRequired: true },
  ],
  list: { document: listProjectsDocument },
  create: { document: createProjectDocument },
  update: { document: updateProjectDocument },
  delete: { document: deleteProjectDocument },
  isContainer: true,
  example: 'shop --name "Web shop"',
}
