// Changes individual keys in several settings rows, so that two people who edit different keys do not overwrite each
// other's changes.
import type { Actor } from '../../policy/actor.ts'
import { type ExpectedRevision, checkRevision } from '../../policy/revisions.ts'
import { orNotFound } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import { checkOneOf } from '../../platform/inputs/inputs.ts'
import { checkEach, checkFields } from '../../platform/inputs/fields.ts'
import {
  type KeyChanges,
  changeObjects,
  checkChangedBytes,
  checkKeyCount,
  joinKeyChanges,
} from '../../platform/inputs/key-value-pairs.ts'
import type { Tx } from '../../platform/postgres/handles.ts'
import { type Configs, writeConfigs } from './configs-writer.service.ts'
import { changeBackendKeys, changeFrontendKeys } from './module-config.service.ts'
import { type PinChanges, changePins } from './pins.pure.ts'
import type { SettingsDeps } from './settings.service.ts'
import * as store from './settings.store.ts'

type Target = { readonly settingsId: string; readonly expectedRevision?: ExpectedRevision }
type KeysInput = Target & KeyChanges & { readonly part: string }
type PinsInput = Target & PinChanges
type Entries = { readonly set?: readonly unknown[] | null; readonly unset?: readonly unknown[] | null }
/** Charges the size of the changed rows to the response budget, before anything is written. */
type Charge = (bytes: number) => void

export type SettingsKeysService = ReturnType<typeof createSettingsKeysService>

const parts = ['backend', 'frontend'] as const

/** Creates the service that sets and removes keys and pins. All changes of a call are applied, or none. */
export function createSettingsKeysService({ db, audit }: SettingsDeps) {
  /** Locks rows in the order of their ids. Appends audit rows last, because they lock the chain of the project. */
  const changeRows = <Change extends Target & Entries>(
    actor: Actor,
    projectId: string,
    changes: readonly Change[],
    options: {
      charge: Charge
      change: (configs: Configs, rowChanges: readonly Change[]) => Partial<Configs>
    },
  ): Promise<store.Settings[]> => {
    const changesById = Map.groupBy(changes, ({ settingsId }) =>
      orNotFound(parseUuid(settingsId), 'settings'),
    )
    checkKeyCount(changes, changesById.size)
    return db.transaction(async (tx) => {
      const rows = await lockRows(tx, projectId, [...changesById.keys()])
      for (const before of rows)
        for (const { expectedRevision } of changesById.get(before.id) ?? [])
          await checkRevision(tx, actor, before, expectedRevision)
      const planned = changeObjects(changes, { rows, changesById }, (before, rowChanges) => ({
        before,
        configs: options.change(before, rowChanges),
      }))
      for (const { before, configs } of planned)
        options.charge(JSON.stringify({ ...before, ...configs }).length)
      const written = []
      for (const { before, configs } of planned) written.push(await writeConfigs(tx, before, configs))
      await audit.append(tx, actor, ...written.flatMap(({ events }) => events))
      return written.map(({ row }) => row)
    })
  }
  return {
    setKeys: (actor: Actor, projectId: string, changes: readonly KeysInput[], charge: Charge) => {
      checkFields({ changes: () => checkEach(changes, checkPart) })
      return changeRows(actor, projectId, changes, { charge, change: changeKeys })
    },

    setPins: (actor: Actor, projectId: string, changes: readonly PinsInput[], charge: Charge) =>
      changeRows(actor, projectId, changes, {
        charge,
        change: ({ frontend }, pins) => ({
          frontend: changeFrontendKeys(frontend, changePins(frontend.KeyValuePairs, pins)),
        }),
      }),
  }
}

/** Locks and reads the rows; throws if one of them does not exist in the project, or if they are too large. */
async function lockRows(tx: Tx, projectId: string, ids: string[]): Promise<store.Settings[]> {
  const lockedRows = await store.lockSizes(tx, orNotFound(parseUuid(projectId), 'project'), ids)
  orNotFound(lockedRows.length === ids.length ? lockedRows : null, 'settings')
  checkChangedBytes(lockedRows.map(({ bytes }) => bytes))
  const rows = new Map((await store.findSettings(tx, ids)).map((row) => [row.id, row]))
  return ids.map((id) => orNotFound(rows.get(id), 'settings'))
}

const checkPart = ({ part }: KeysInput) => checkFields({ part: () => checkOneOf(part, 'part', parts) })

/** Combines the changes to each part before it applies them, so that each part is checked only once. */
function changeKeys({ backend, frontend }: Configs, changes: readonly KeysInput[]): Partial<Configs> {
  const byPart = Map.groupBy(changes, ({ part }) => part)
  const [backendKeys, frontendKeys] = [byPart.get('backend'), byPart.get('frontend')]
  return {
    ...(backendKeys && { backend: changeBackendKeys(backend, joinKeyChanges(backendKeys)) }),
    ...(frontendKeys && { frontend: changeFrontendKeys(frontend, joinKeyChanges(frontendKeys)) }),
  }
}
