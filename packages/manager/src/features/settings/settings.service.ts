import { isDeepStrictEqual } from 'node:util'
import type { Actor } from '../../policy/actor.ts'
import type { Audit } from '../../platform/audit/append.ts'
import type { Db, Tx } from '../../platform/postgres/handles.ts'
import { orNotFound } from '../../platform/errors.ts'
import { fullBackend, fullFrontend } from './layers.pure.ts'
import {
  type BackendUpdate,
  type FrontendUpdate,
  changeBackend,
  changeFrontend,
} from './module-config.service.ts'
import { settingsEvent } from './settings-event.pure.ts'
import * as store from './settings.store.ts'

export type SettingsDeps = { db: Db; audit: Audit }
export type SettingsService = ReturnType<typeof createSettingsService>

type Configs = Pick<store.Settings, 'backend' | 'frontend'>

export function createSettingsService({ db, audit }: SettingsDeps) {
  /** Stores the configs. An update without a change writes no row and no audit event. */
  const change = async (
    tx: Tx,
    actor: Actor,
    before: store.Settings,
    configs: Partial<Configs>,
  ): Promise<store.Settings> => {
    const after = { ...before, ...configs }
    if (isDeepStrictEqual(before, after)) return before
    await store.updateSettings(tx, before.id, after)
    await audit.append(tx, actor, settingsEvent('update', before, after))
    return after
  }
  const changeById = (
    actor: Actor,
    id: string,
    configsOf: (before: store.Settings) => Partial<Configs>,
  ): Promise<store.Settings> =>
    db.transaction(async (tx) => {
      const before = orNotFound(await store.lockSettings(tx, id), 'settings')
      return change(tx, actor, before, configsOf(before))
    })
  const ensureLeaf = async (tx: Tx, actor: Actor, tenant2application: string): Promise<store.Settings> => {
    const isNew = await store.insertRow(tx, { tenant2application })
    const { id } = orNotFound(await store.findRow(tx, { tenant2application }), 'tenant2Application')
    const leaf = orNotFound(await store.lockSettings(tx, id), 'tenant2Application')
    if (isNew) await audit.append(tx, actor, settingsEvent('create', null, leaf))
    return leaf
  }
  return {
    updateBackend: (actor: Actor, id: string, update: BackendUpdate): Promise<store.Settings> =>
      changeById(actor, id, ({ backend }) => ({ backend: changeBackend(backend, update) })),

    updateFrontend: (actor: Actor, id: string, update: FrontendUpdate): Promise<store.Settings> =>
      changeById(actor, id, ({ frontend }) => ({ frontend: changeFrontend(frontend, update) })),

    emptyBackend: async (actor: Actor, id: string): Promise<true> => {
      await changeById(actor, id, () => ({ backend: fullBackend(null) }))
      return true
    },

    emptyFrontend: async (actor: Actor, id: string): Promise<true> => {
      await changeById(actor, id, () => ({ frontend: fullFrontend(null) }))
      return true
    },

    ensureLeaf: (actor: Actor, tenant2ApplicationId: string): Promise<store.Settings> =>
      db.transaction((tx) => ensureLeaf(tx, actor, tenant2ApplicationId)),

    /**
     * Copies settings from one row of an application in a tenant to another such row. The source is read in the same
     * transaction, so the copy is consistent.
     */
    copyLeaf: (actor: Actor, sourceId: string, targetId: string): Promise<store.Settings> =>
      db.transaction(async (tx) => {
        const row = await store.findRow(tx, { tenant2application: sourceId })
        const [source] = row === undefined ? [] : await store.findSettings(tx, [row.id])
        const target = await ensureLeaf(tx, actor, targetId)
        return change(tx, actor, target, {
          backend: source?.backend ?? fullBackend(null),
          frontend: source?.frontend ?? fullFrontend(null),
        })
      }),
  }
}
