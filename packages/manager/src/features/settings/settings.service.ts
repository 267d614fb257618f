import type { Actor } from '../../policy/actor.ts'
import { type ExpectedRevision, checkRevision } from '../../policy/revisions.ts'
import type { Audit } from '../../platform/audit/append.ts'
import type { Db, Tx } from '../../platform/postgres/handles.ts'
import { orNotFound } from '../../platform/errors.ts'
import { fillBackendDefaults, fillFrontendDefaults } from './layers.pure.ts'
import {
  type BackendUpdate,
  type FrontendUpdate,
  changeBackend,
  changeFrontend,
} from './module-config.service.ts'
import { type Configs, writeConfigs } from './configs-writer.service.ts'
import { createSettingsEvent } from './settings-event.pure.ts'
import * as store from './settings.store.ts'

export type SettingsDeps = { db: Db; audit: Audit }
export type SettingsService = ReturnType<typeof createSettingsService>

type Expected = { readonly expectedRevision?: ExpectedRevision }

export function createSettingsService({ db, audit }: SettingsDeps) {
  const change = async (
    tx: Tx,
    actor: Actor,
    before: store.Settings,
    configs: Partial<Configs>,
  ): Promise<store.Settings> => {
    const { row, events } = await writeConfigs(tx, before, configs)
    await audit.append(tx, actor, ...events)
    return row
  }
  const changeById = (
    actor: Actor,
    id: string,
    { expectedRevision }: Expected,
    createConfigs: (before: store.Settings) => Partial<Configs>,
  ): Promise<store.Settings> =>
    db.transaction(async (tx) => {
      const before = orNotFound(await store.lockSettings(tx, id), 'settings')
      await checkRevision(tx, actor, before, expectedRevision)
      return change(tx, actor, before, createConfigs(before))
    })
  const ensureLeaf = createEnsureLeaf(audit)
  return {
    updateBackend: (actor: Actor, id: string, update: BackendUpdate & Expected): Promise<store.Settings> =>
      changeById(actor, id, update, ({ backend }) => ({ backend: changeBackend(backend, update) })),

    updateFrontend: (actor: Actor, id: string, update: FrontendUpdate & Expected): Promise<store.Settings> =>
      changeById(actor, id, update, ({ frontend }) => ({ frontend: changeFrontend(frontend, update) })),

    emptyBackend: async (actor: Actor, id: string, expected: Expected): Promise<true> => {
      await changeById(actor, id, expected, () => ({ backend: fillBackendDefaults(null) }))
      return true
    },

    emptyFrontend: async (actor: Actor, id: string, expected: Expected): Promise<true> => {
      await changeById(actor, id, expected, () => ({ frontend: fillFrontendDefaults(null) }))
      return true
    },

    ensureLeaf: (actor: Actor, tenant2ApplicationId: string): Promise<store.Settings> =>
      db.transaction((tx) => ensureLeaf(tx, actor, tenant2ApplicationId)),

    /**
     * Copies the settings of an application in one tenant to the settings of an application in another tenant. The
     * source is read in the same transaction, so the copy is consistent.
     */
    copyLeaf: (
      actor: Actor,
      ids: { source: string; target: string },
      expected: Expected,
    ): Promise<store.Settings> =>
      db.transaction(async (tx) => {
        const row = await store.findRow(tx, { tenant2application: ids.source })
        const [source] = row === undefined ? [] : await store.findSettings(tx, [row.id])
        const target = await ensureLeaf(tx, actor, ids.target, expected)
        return change(tx, actor, target, {
          backend: source?.backend ?? fillBackendDefaults(null),
          frontend: source?.frontend ?? fillFrontendDefaults(null),
        })
      }),
  }
}

/**
 * Returns a function that locks the settings of a Tenant2Application row. It creates them if the row has none, which
 * counts as revision 0.
 */
const createEnsureLeaf =
  (audit: Audit) =>
  async (
    tx: Tx,
    actor: Actor,
    tenant2application: string,
    { expectedRevision }: Expected = {},
  ): Promise<store.Settings> => {
    const isNew = await store.insertRow(tx, { tenant2application })
    const { id } = orNotFound(await store.findRow(tx, { tenant2application }), 'tenant2Application')
    const leaf = orNotFound(await store.lockSettings(tx, id), 'tenant2Application')
    await checkRevision(tx, actor, isNew ? { ...leaf, revision: 0 } : leaf, expectedRevision)
    if (isNew) await audit.append(tx, actor, createSettingsEvent('create', null, leaf))
    return leaf
  }
