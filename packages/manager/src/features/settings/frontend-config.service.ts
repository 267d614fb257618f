// What a frontend loads at every page view: the merged layers as bytes, made once per version of the project's
// settings.
import { createServedPlaces } from '../../platform/cache/served-places.ts'
import { type Built, createVersionedCache } from '../../platform/cache/versioned-cache.ts'
import type { Metrics } from '../../platform/metrics.ts'
import type { ReadProjectVersion } from '../../platform/postgres/project-version.ts'
import { type EncodedJson, encodeJson, yieldToEventLoop } from '../../platform/cache/encoded-json.ts'
import { type EffectiveSettings, mergeLayers } from './layers.pure.ts'
import { type Place, type PlaceRow, placeKey } from './layers.store.ts'

export type FrontendConfigDeps = {
  readVersion: ReadProjectVersion
  readServed: (place: Place) => Promise<PlaceRow | null>
  maxBytes: number
  metrics: Metrics
}
export type FrontendConfigService = ReturnType<typeof createFrontendConfigService>

/** The bytes for an application in a tenant, or for all tenants; throws 404 where it is not enabled. */
export function createFrontendConfigService(deps: FrontendConfigDeps) {
  const find = createVersionedCache<Place, Built & { answer: EncodedJson | null }>({
    nameOf: placeKey,
    readVersion: (projectId) => deps.readVersion(projectId, 'settings'),
    maxBytes: deps.maxBytes,
    onOutcome: deps.metrics.cacheCounter('frontend_config'),
    build: async (place) => {
      const row = await deps.readServed(place)
      if (row === null) return null
      await yieldToEventLoop()
      const { projectId, version, isServed, layers } = row
      const answer = isServed ? encodeJson(answerOf(projectId, mergeLayers(layers))) : null
      return { projectId, version, answer, bytes: answer?.length ?? 0 }
    },
  })
  return createServedPlaces(find)
}

function answerOf(projectId: string, { backend, frontend }: EffectiveSettings): object {
  return {
    config: {
      enabled_modules: backend.EnabledModules.value,
      enabled_themes: frontend.EnabledThemes.value,
      default_theme: frontend.DefaultTheme.value,
      enabled_locales: frontend.EnabledLocales.value,
      default_locale: frontend.DefaultLocale.value,
      key_value_pairs: frontend.KeyValuePairs.map(({ Key, Value }) => ({ key: Key, value: Value })),
    },
    project_id: projectId,
  }
}
