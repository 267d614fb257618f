// What a frontend loads at every page view: the merged layers as bytes, made once per version of the project.
import { AppError, notFound } from '../../platform/errors.ts'
import { type Built, createFreshMemory } from '../../platform/fresh-memory.ts'
import { parseUuid } from '../../platform/ids.ts'
import type { Metrics } from '../../platform/metrics.ts'
import type { ReadProjectVersion } from '../../platform/db/project-version.ts'
import { type EffectiveSettings, mergeLayers } from './layers.ts'
import type { Place, PlaceRow } from './layers.store.ts'

export type FrontendConfigDeps = {
  readVersion: ReadProjectVersion
  readPlace: (place: Place) => Promise<PlaceRow | null>
  prepare: (answer: object) => PreparedAnswer
  maxBytes: number
  metrics: Metrics
}
export type FrontendConfigService = ReturnType<typeof createFrontendConfigService>
type PreparedAnswer = { body: Buffer; etag: string }
type Kept = Built & { answer: PreparedAnswer | null }

/** The bytes for an application in a tenant, or for all tenants; throws 404 where it is not enabled. */
export function createFrontendConfigService(deps: FrontendConfigDeps) {
  const find = createFreshMemory<Place, Kept>({
    nameOf: ({ applicationId, tenantId }) => `${applicationId} ${tenantId}`,
    readVersion: deps.readVersion,
    maxBytes: deps.maxBytes,
    onOutcome: (outcome) => deps.metrics.prepared.inc({ answer: 'frontend_config', outcome }),
    build: async (place) => {
      const row = await deps.readPlace(place)
      if (row === null) return null
      const { projectId, version, isEnabled, layers } = row
      const isServed = place.tenantId === null || isEnabled
      const answer = isServed ? deps.prepare(answerOf(projectId, mergeLayers(layers))) : null
      return { projectId, version, answer, bytes: answer?.body.length ?? 0 }
    },
  })
  return {
    forTenant: async (application: string, tenant: string): Promise<PreparedAnswer> => {
      const [applicationId, tenantId] = [parseUuid(application), parseUuid(tenant)]
      const kept =
        applicationId === null || tenantId === null ? null : await find({ applicationId, tenantId })
      if (kept?.answer) return kept.answer
      throw new AppError('not_found', 'the application is not enabled for this tenant')
    },
    forAllTenants: async (application: string): Promise<PreparedAnswer> => {
      const applicationId = parseUuid(application)
      const kept = applicationId === null ? null : await find({ applicationId, tenantId: null })
      if (kept?.answer) return kept.answer
      throw notFound('application')
    },
  }
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
