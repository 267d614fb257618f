import type { Db } from '../../platform/postgres/handles.ts'
import { notFound, orNotFound } from '../../platform/errors.ts'
import { type ExplainedSettings, addHiddenValues } from './hidden-values.pure.ts'
import { mergeLayers } from './layers.pure.ts'
import type { LayersId, LayersRow } from './layers.store.ts'
import * as store from './settings.store.ts'

export type SettingsReadsDeps = {
  db: Db
  /** Reads all four layers of an application in a tenant. */
  readCompleteLayers: (id: LayersId) => Promise<LayersRow | null>
}
export type SettingsReads = ReturnType<typeof createSettingsReads>
export type SettingsRow = store.Settings

type Owners = { [Name in 'project' | 'tenant' | 'application' | 'tenant2application']?: string | null }
/** Throws, before the values are read, if they would exceed the budget of one response. */
type Charge = (bytes: number) => void

/** Reads the settings of one layer, and the effective settings of all layers. */
export function createSettingsReads({ db, readCompleteLayers }: SettingsReadsDeps) {
  return {
    get: async (owners: Owners, charge: Charge): Promise<store.Settings> => {
      const owner = getOnlyOwner(owners)
      let row = await store.findRow(db.read, owner)
      // An owner that is older than the settings table has no row yet, so the row is created here. Settings of an
      // application in a tenant (a leaf) are created only on request.
      if (row === undefined && !('tenant2application' in owner)) {
        await store.insertRow(db.idempotent, owner)
        row = await store.findRow(db.read, owner)
      }
      const { id, bytes } = orNotFound(row, 'settings')
      charge(bytes)
      return orNotFound((await store.findSettings(db.read, [id]))[0], 'settings')
    },

    /**
     * Returns the leaves (the settings of applications in tenants) without their values, in the order of the
     * ids. The entry of a leaf that does not exist yet is null.
     */
    findLeafRows: async (tenant2ApplicationIds: readonly string[]): Promise<(store.SizedRow | null)[]> => {
      const rows = await store.findLeafRows(db.read, tenant2ApplicationIds)
      const rowsByOwner = new Map(rows.map((row) => [row.ownerId, row]))
      return tenant2ApplicationIds.map((id) => rowsByOwner.get(id) ?? null)
    },

    findMany: (ids: readonly string[]): Promise<store.Settings[]> => store.findSettings(db.read, ids),

    getEffective: async (
      { applicationId, tenantId }: { applicationId: string; tenantId: string },
      charge: Charge,
    ): Promise<ExplainedSettings> => {
      charge(await store.readLayersSize(db.read, applicationId, tenantId))
      const row = await readCompleteLayers({ applicationId, tenantId })
      const { layers } = orNotFound(row, 'tenant2Application')
      return addHiddenValues(mergeLayers(layers), layers)
    },
  }
}

/** Returns the owner. The policy has already checked that exactly one owner is given. */
function getOnlyOwner(owners: Owners): store.Owner {
  const [firstOwner, ...otherOwners] = Object.entries(owners).filter(([, id]) => typeof id === 'string')
  if (firstOwner === undefined || otherOwners.length > 0) throw notFound('settings')
  return { [firstOwner[0]]: firstOwner[1] } as store.Owner
}
