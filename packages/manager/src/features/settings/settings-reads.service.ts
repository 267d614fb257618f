import type { Db } from '../../platform/db/database.ts'
import { badRequest, notFound, orNotFound } from '../../platform/errors.ts'
import { type EffectiveSettings, mergeLayers } from './layers.ts'
import type { Place, PlaceRow } from './layers.store.ts'
import * as store from './settings.store.ts'

export type SettingsReadsDeps = { db: Db; readPlace: (place: Place) => Promise<PlaceRow | null> }
export type SettingsReads = ReturnType<typeof createSettingsReads>
export type SettingsRow = store.Settings

type Owners = { [Name in 'project' | 'tenant' | 'application' | 'tenant2application']?: string | null }

// What the leaves in one answer may hold together.
const maxAnswerBytes = 16 * 1_048_576

/** Reads what a layer sets, and what all of them come to. */
export function createSettingsReads({ db, readPlace }: SettingsReadsDeps) {
  return {
    get: async (owners: Owners): Promise<store.Settings> =>
      orNotFound(await store.findSettingsOf(db, ownerIn(owners)), 'settings'),

    /** The leaves of rows by the rows' ids; null where there is none yet. */
    findLeaves: async (tenant2ApplicationIds: readonly string[]): Promise<(store.Settings | null)[]> => {
      const { bytes, leaves } = await store.findLeaves(db, tenant2ApplicationIds, maxAnswerBytes)
      if (bytes > maxAnswerBytes)
        throw badRequest(`the settings of these rows have ${bytes} bytes together; ask for smaller pages`)
      const byOwner = new Map(leaves.map((leaf) => [leaf.ownerId, leaf]))
      return tenant2ApplicationIds.map((id) => byOwner.get(id) ?? null)
    },

    getEffective: async (place: Place): Promise<EffectiveSettings> =>
      mergeLayers(orNotFound(await readPlace(place), 'tenant2Application').layers),
  }
}

/** The policy has seen to it that exactly one owner is named. */
function ownerIn(owners: Owners): store.Owner {
  const [named, ...others] = Object.entries(owners).filter(([, id]) => typeof id === 'string')
  if (named === undefined || others.length > 0) throw notFound('settings')
  return { [named[0]]: named[1] } as store.Owner
}
