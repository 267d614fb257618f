import type { Db } from '../../platform/postgres/handles.ts'
import { notFound, orNotFound } from '../../platform/errors.ts'
import { type EffectiveSettings, mergeLayers } from './layers.pure.ts'
import type { Place, PlaceRow } from './layers.store.ts'
import * as store from './settings.store.ts'

export type SettingsReadsDeps = {
  db: Db
  /** All four layers of a place. */
  readWhole: (place: Place) => Promise<PlaceRow | null>
}
export type SettingsReads = ReturnType<typeof createSettingsReads>
export type SettingsRow = store.Settings

type Owners = { [Name in 'project' | 'tenant' | 'application' | 'tenant2application']?: string | null }
/** Refuses what would be too much for one response, before it is read. */
type Charge = (bytes: number) => void

/** Reads what a layer sets, and what all of them come to. */
export function createSettingsReads({ db, readWhole }: SettingsReadsDeps) {
  return {
    get: async (owners: Owners, charge: Charge): Promise<store.Settings> => {
      const owner = ownerIn(owners)
      let row = await store.findRow(db.read, owner)
      // An owner that is older than the table of settings has no row yet; a leaf is made only on request.
      if (row === undefined && !('tenant2application' in owner)) {
        await store.insertRow(db.idempotent, owner)
        row = await store.findRow(db.read, owner)
      }
      const { id, bytes } = orNotFound(row, 'settings')
      charge(bytes)
      return orNotFound((await store.findSettings(db.read, [id]))[0], 'settings')
    },

    /** The leaves of rows by the rows' ids, without contents; null where there is none yet. */
    findLeafRows: async (tenant2ApplicationIds: readonly string[]): Promise<(store.Sized | null)[]> => {
      const rows = await store.findLeafRows(db.read, tenant2ApplicationIds)
      const byOwner = new Map(rows.map((row) => [row.ownerId, row]))
      return tenant2ApplicationIds.map((id) => byOwner.get(id) ?? null)
    },

    findMany: (ids: readonly string[]): Promise<store.Settings[]> => store.findSettings(db.read, ids),

    getEffective: async (
      { applicationId, tenantId }: { applicationId: string; tenantId: string },
      charge: Charge,
    ): Promise<EffectiveSettings> => {
      charge(await store.sizeOfLayers(db.read, applicationId, tenantId))
      const row = await readWhole({ applicationId, tenantId })
      return mergeLayers(orNotFound(row, 'tenant2Application').layers)
    },
  }
}

/** The policy has checked that exactly one owner is named. */
function ownerIn(owners: Owners): store.Owner {
  const [named, ...others] = Object.entries(owners).filter(([, id]) => typeof id === 'string')
  if (named === undefined || others.length > 0) throw notFound('settings')
  return { [named[0]]: named[1] } as store.Owner
}
