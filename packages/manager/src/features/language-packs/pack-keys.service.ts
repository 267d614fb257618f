// Changes individual entries in several language packs, so that two people who edit different entries do not
// overwrite each other's changes.
import type { Actor } from '../../policy/actor.ts'
import { type ExpectedRevision, checkRevision } from '../../policy/revisions.ts'
import { orNotFound } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import {
  type KeyChanges,
  applyKeyChanges,
  changeObjects,
  checkChangedBytes,
  checkKeyCount,
  joinKeyChanges,
} from '../../platform/inputs/key-value-pairs.ts'
import type { LanguagePacksDeps } from './language-packs.service.ts'
import * as store from './language-packs.store.ts'
import { checkContent, writeContent } from './pack-content.service.ts'

type PackKeysChange = KeyChanges & { readonly packId: string; readonly expectedRevision?: ExpectedRevision }
export type SetPackKeys = ReturnType<typeof createPackKeysSetter>

/** Returns a function that sets and removes entries. If one change is rejected, no change is applied. */
export function createPackKeysSetter({ db, audit }: LanguagePacksDeps) {
  return (
    actor: Actor,
    projectId: string,
    changes: readonly PackKeysChange[],
  ): Promise<store.LanguagePack[]> => {
    const changesById = Map.groupBy(changes, ({ packId }) => orNotFound(parseUuid(packId), 'language pack'))
    checkKeyCount(changes, changesById.size)
    return db.transaction(async (tx) => {
      const ids = [...changesById.keys()]
      const packs = await store.lockLanguagePacks(tx, projectId, ids)
      orNotFound(packs.length === ids.length ? packs : null, 'language pack')
      checkChangedBytes(packs.map(({ contentBytes }) => contentBytes))
      const contents = await store.findContents(tx, ids)
      for (const pack of packs)
        for (const { expectedRevision } of changesById.get(pack.id) ?? [])
          await checkRevision(tx, actor, pack, expectedRevision)
      const plannedChanges = changeObjects(changes, { rows: packs, changesById }, (pack, packChanges) => {
        const before = { ...pack, content: contents.get(pack.id) ?? [] }
        const content = checkContent(applyKeyChanges(before.content, joinKeyChanges(packChanges)))
        return { before, content }
      })
      const writtenPacks = []
      for (const { before, content } of plannedChanges)
        writtenPacks.push(await writeContent(tx, before, content))
      // The audit rows come last, because they lock the chain of the project.
      await audit.append(tx, actor, ...writtenPacks.flatMap(({ events }) => events))
      return writtenPacks.map(({ pack }) => pack)
    })
  }
}
