// This service returns encoded language packs for frontends. A pack is encoded once per version of the
// project's language packs. Names are cached by application and bytes by pack. Locales that fall back to the
// same pack therefore share one cache entry.
import { LRUCache } from 'lru-cache'
import { createCoalescer } from '../../platform/postgres/coalesce.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { ReadProjectVersion } from '../../platform/postgres/project-version.ts'
import { notFound } from '../../platform/errors.ts'
import { type BuiltValue, createVersionedCache } from '../../platform/cache/versioned-cache.ts'
import { parseUuid } from '../../platform/ids.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { type EncodedJson, encodeJson, yieldToEventLoop } from '../../platform/cache/encoded-json.ts'
import { createSingleFlight } from '../../platform/cache/single-flight.ts'
import { type PackNames, readPack, readPackNames } from './language-packs.store.ts'
import { expandMessages, isLocale, listLookupLocales } from './messages.pure.ts'

export type ServedPackDeps = {
  database: Database
  readVersion: ReadProjectVersion
  maxBytes: number
  metrics: Metrics
}
export type FindServedPack = ReturnType<typeof createServedPackFinder>

const nameBytes = 40

/**
 * Returns a function that finds the encoded bytes of a pack. It throws 404 if neither the locale nor its
 * language has a pack.
 */
export function createServedPackFinder(deps: ServedPackDeps) {
  const readNames = createCoalescer<string, PackNames>({
    getKey: (applicationId) => applicationId,
    run: (applicationIds) => readPackNames(deps.database.run, applicationIds),
    maxBatch: 16,
  })
  const findNames = createVersionedCache<string, BuiltValue & { names: ReadonlySet<string> }>({
    nameOf: (applicationId) => applicationId,
    readVersion: (projectId) => deps.readVersion(projectId, 'texts'),
    maxBytes: deps.maxBytes,
    onOutcome: deps.metrics.cacheCounter('language_pack_names'),
    build: async (applicationId) => {
      const row = await readNames(applicationId)
      return row && { ...row, names: new Set(row.names), bytes: row.names.length * nameBytes }
    },
  })
  const findPack = createPackCache(deps)
  return async (application: string, locale: string): Promise<EncodedJson> => {
    const applicationId = parseUuid(application)
    if (applicationId === null || !isLocale(locale)) throw notFound('language pack')
    // A pack can be deleted after its name was read. A retry reads the current names.
    for (let attempt = 0; attempt < 3; attempt++) {
      const packNames = await findNames(applicationId)
      const name = listLookupLocales(locale.toLowerCase()).find((one) => packNames?.names.has(one) === true)
      if (packNames === null || name === undefined) break
      const pack = await findPack(packNames, name)
      if (pack !== null) return pack
    }
    throw notFound('language pack')
  }
}

/** Caches packs under the version of the name list. A pack is read after the list, so it is at least as recent. */
function createPackCache({ database, maxBytes, metrics }: ServedPackDeps) {
  const cache = new LRUCache<string, EncodedJson>({
    maxSize: maxBytes,
    sizeCalculation: ({ length }) => length + 800,
  })
  const build = createSingleFlight<EncodedJson | null>()
  const countOutcome = metrics.cacheCounter('language_pack')
  return async ({ projectId, version }: BuiltValue, name: string): Promise<EncodedJson | null> => {
    const key = `${projectId} ${version} ${name}`
    const cachedPack = cache.get(key)
    if (cachedPack !== undefined) {
      countOutcome('hit')
      return cachedPack
    }
    return build(key, async () => {
      countOutcome('miss')
      const row = await readPack(database.run, projectId, name)
      if (row === undefined) return null
      await yieldToEventLoop()
      const encodedPack = encodeJson({ locale: row.name, messages: expandMessages(row.content) })
      cache.set(key, encodedPack)
      return encodedPack
    })
  }
}
