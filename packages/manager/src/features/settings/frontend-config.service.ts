// This service returns the configuration that a frontend loads on every page view: the merged layers, encoded once per
// version of the project settings.
import { createServedResponses } from '../../platform/cache/served-responses.ts'
import { type BuiltValue, createVersionedCache } from '../../platform/cache/versioned-cache.ts'
import type { Metrics } from '../../platform/metrics.ts'
import type { ReadProjectVersion } from '../../platform/postgres/project-version.ts'
import { type EncodedJson, encodeJson, yieldToEventLoop } from '../../platform/cache/encoded-json.ts'
import { type EffectiveSettings, mergeLayers } from './layers.pure.ts'
import { type LayersId, type LayersRow, formatLayersKey } from './layers.store.ts'

export type FrontendConfigDeps = {
  readVersion: ReadProjectVersion
  readServed: (id: LayersId) => Promise<LayersRow | null>
  maxBytes: number
  metrics: Metrics
}
export type FrontendConfigService = ReturnType<typeof createFrontendConfigService>

/**
 * Creates lookups of the encoded configuration of an application in a tenant or for all tenants. They throw
 * 404 if the application is not enabled.
 */
export function createFrontendConfigService(deps: FrontendConfigDeps) {
  const find = createVersionedCache<LayersId, BuiltValue & { answer: EncodedJson | null }>({
    nameOf: formatLayersKey,
    readVersion: (projectId) => deps.readVersion(projectId, 'settings'),
    maxBytes: deps.maxBytes,
    onOutcome: deps.metrics.cacheCounter('frontend_config'),
    build: async (id) => {
      const row = await deps.readServed(id)
      if (row === null) return null
      await yieldToEventLoop()
      const { projectId, version, isServed, layers } = row
      const answer = isServed ? encodeJson(createResponse(projectId, mergeLayers(layers))) : null
      return { projectId, version, answer, bytes: answer?.length ?? 0 }
    },
  })
  return createServedResponses(find)
}

function createResponse(projectId: string, { backend, frontend }: EffectiveSettings): object {
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
