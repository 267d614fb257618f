import type { Actor } from '../../policy/actor.ts'
import { type ExpectedRevision, checkRevision } from '../../policy/revisions.ts'
import type { Audit } from '../../platform/audit/append.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { badRequest, orNotFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { checkInput } from '../../platform/inputs/fields.ts'
import type { KeyValuePair } from '../../platform/inputs/key-value-pairs.ts'
import { type ListArgs, readPage } from '../../platform/lists/filters.ts'
import * as store from './language-packs.store.ts'
import { isLocale } from './messages.pure.ts'
import { checkContent, writeContent, createPackEvent } from './pack-content.service.ts'

export type LanguagePacksDeps = { db: Db; audit: Audit }
export type LanguagePacksService = ReturnType<typeof createLanguagePacksService>

export function createLanguagePacksService({ db, audit }: LanguagePacksDeps) {
  return {
    list: (projectId: string, args: ListArgs): Promise<store.LanguagePack[]> =>
      store.listLanguagePacks(db.read, projectId, readPage(store.languagePackFields, args)),

    findMany: (ids: readonly string[]): Promise<store.LanguagePack[]> =>
      store.findLanguagePacks(db.read, ids),

    /** Returns the content of each pack, in the order of the ids. */
    findContents: async (ids: readonly string[]): Promise<KeyValuePair[][]> => {
      const contents = await store.findContents(db.read, ids)
      return ids.map((id) => contents.get(id) ?? [])
    },

    create: (actor: Actor, projectId: string, { name }: { name: string }): Promise<store.LanguagePack> => {
      if (!isLocale(name)) throw badRequest('name must be a locale such as de or de-AT', 'input.name')
      return db.transaction(async (tx) => {
        if ((await store.countLanguagePacks(tx, projectId)) >= store.maxPacks)
          throw badRequest(`a project can have at most ${store.maxPacks} language packs; delete one first`)
        const after = await store.insertLanguagePack(tx, { id: newId(), projectId, name })
        await audit.append(tx, actor, createPackEvent('create', null, { ...after, content: [] }))
        return after
      })
    },

    updateContent: (
      actor: Actor,
      id: string,
      input: { readonly content: readonly KeyValuePair[]; readonly expectedRevision?: ExpectedRevision },
    ): Promise<store.LanguagePack> => {
      const { content } = checkInput({ content: () => checkContent(input.content) })
      return db.transaction(async (tx) => {
        const before = orNotFound(await store.lockLanguagePack(tx, id), 'language pack')
        await checkRevision(tx, actor, before, input.expectedRevision)
        const { pack, events } = await writeContent(tx, before, content)
        await audit.append(tx, actor, ...events)
        return pack
      })
    },

    delete: (actor: Actor, id: string, expectedRevision: ExpectedRevision): Promise<true> =>
      db.transaction(async (tx) => {
        const before = orNotFound(await store.lockLanguagePack(tx, id), 'language pack')
        await checkRevision(tx, actor, before, expectedRevision)
        await store.deleteLanguagePack(tx, id)
        await audit.append(tx, actor, createPackEvent('delete', before, null))
        return true as const
      }),
  }
}
