import type { Resource } from '../resource.ts'

export const languagePacks: Resource = {
  name: 'language-packs',
  one: 'language pack',
  aliases: ['language-pack'],
  description: 'Language packs: the texts of a project in one language',
  parent: 'project',
  keys: ['name'],
  selection: 'id name content { Key Value }',
  columns: ['name', 'id'],
  fields: [
    {
      name: 'content',
      description: 'its texts by dotted key, in the place of all that it has',
      kind: 'pairs',
      isRequired: true,
      only: 'update',
    },
  ],
  list: { field: 'languagePacks', parent: 'project' },
  create: { field: 'createLanguagePack', parent: 'projectId', input: 'CreateLanguagePackInput' },
  update: { field: 'updateLanguagePackContent', input: 'UpdateLanguagePackContentInput' },
  delete: { field: 'deleteLanguagePack' },
  example: 'de-AT',
}
