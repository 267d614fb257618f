import {
  createLanguagePackDocument,
  deleteLanguagePackDocument,
  getLanguagePacksDocument,
  listLanguagePacksDocument,
  updateLanguagePackContentDocument,
} from '@manager/client/documents'
import type { Resource } from '../resource.ts'

export const languagePacks: Resource = {
  name: 'language-packs',
  singular: 'language pack',
  aliases: ['language-pack'],
  description: 'Language packs: the translations of a project in one language',
  parent: 'project',
  keys: ['name'],
  columns: ['name', 'id'],
  fields: [
    {
      name: 'content',
      description: 'a file with the translations by dotted key; replaces all existing translations',
      kind: 'pairs',
      isRequired: true,
      only: 'update',
    },
  ],
  list: { document: listLanguagePacksDocument, details: getLanguagePacksDocument, parent: 'project' },
  create: { document: createLanguagePackDocument, parent: 'projectId' },
  update: { document: updateLanguagePackContentDocument },
  delete: { document: deleteLanguagePackDocument },
  example: 'de-AT',
}
