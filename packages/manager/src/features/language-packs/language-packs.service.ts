import { isDeepStrictEqual } from 'node:util'
import type { Actor } from '../../policy/actor.ts'
import type { Audit, AuditEvent } from '../../platform/audit/append.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { badRequest, orNotFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { type KeyValuePair, changedPairs, checkPairs } from '../../platform/inputs/key-value-pairs.ts'
import { type ListArgs, readPage } from '../../platform/lists/filters.ts'
import * as store from './language-packs.store.ts'
import { findKeyProblem, isLocale } from './messages.pure.ts'

export type LanguagePacksDeps = { db: Db; audit: Audit }
export type LanguagePacksService = ReturnType<typeof createLanguagePacksService>

export function createLanguagePacksService({ db, audit }: LanguagePacksDeps) {
  return {
    list: (projectId: string, args: ListArgs): Promise<store.LanguagePack[]> =>
      store.listLanguagePacks(db.read, projectId, readPage(store.languagePackFields, args)),

    /** Returns the contents in the order of the ids. */
    findContents: async (ids: readonly string[]): Promise<KeyValuePair[][]> => {
      const contents = await store.findContents(db.read, ids)
      return ids.map((id) => contents.get(id) ?? [])
    },

    create: (actor: Actor, projectId: string, { name }: { name: string }): Promise<store.LanguagePack> => {
      if (!isLocale(name)) throw badRequest('name must be a locale such as de or de-AT')
      return db.transaction(async (tx) => {
        if ((await store.countLanguagePacks(tx, projectId)) >= store.maxPacks)
          throw badRequest(`a project can have at most ${store.maxPacks} language packs; delete one first`)
        const after = await store.insertLanguagePack(tx, { id: newId(), projectId, name })
        await audit.append(tx, actor, event('create', null, { ...after, content: [] }))
        return after
      })
    },

    updateContent: (
      actor: Actor,
      id: string,
      input: { readonly content: readonly KeyValuePair[] },
    ): Promise<store.LanguagePack> => {
      const content = checkPairs(input.content, 'content')
      const problem = findKeyProblem(content)
      if (problem !== null) throw badRequest(problem)
      return db.transaction(async (tx) => {
        const before = orNotFound(await store.lockLanguagePack(tx, id), 'language pack')
        if (isDeepStrictEqual(before.content, content)) return before
        const after = await store.updateContent(tx, id, content)
        await audit.append(tx, actor, event('update', before, { ...after, content }))
        return after
      })
    },

    delete: (actor: Actor, id: string): Promise<true> =>
      db.transaction(async (tx) => {
        const before = orNotFound(await store.lockLanguagePack(tx, id), 'language pack')
        await store.deleteLanguagePack(tx, id)
        await audit.append(tx, actor, event('delete', before, null))
        return true as const
      }),
  }
}

const pastTense = { create: 'created', update: 'updated', delete: 'deleted' } as const

function event(
  action: keyof typeof pastTense,
  before: store.PackWithContent | null,
  after: store.PackWithContent | null,
): AuditEvent {
  const pack = (after ?? before) as store.PackWithContent
  const content = changedPairs('content', before?.content ?? [], after?.content ?? [])
  const fields = { ...content.before, ...content.after, id: '', name: '' }
  return {
    projectId: pack.projectId,
    entityType: 'languagePack',
    entityId: pack.id,
    action,
    description: `languagePack ${pack.name} ${pastTense[action]}`,
    classes: Object.fromEntries(Object.keys(fields).map((field) => [field, 'public' as const])),
    before: before && { id: before.id, name: before.name, ...content.before },
    after: after && { id: after.id, name: after.name, ...content.after },
  }
}
