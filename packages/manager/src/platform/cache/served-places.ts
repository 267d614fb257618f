// Responses by application and tenant, as frontends ask for them: the ids as they came, and the 404 of what is not served.
import { AppError, notFound } from '../errors.ts'
import { parseUuid } from '../ids.ts'
import type { EncodedJson } from './encoded-json.ts'

/** Without a tenant: what holds for all of them. */
type Place = { applicationId: string; tenantId: string | null }
/** The answer is null where the application is not enabled. */
type Find = (place: Place) => Promise<{ answer: EncodedJson | null } | null>

export function createServedPlaces(find: Find) {
  return {
    forTenant: async (application: string, tenant: string): Promise<EncodedJson> => {
      const [applicationId, tenantId] = [parseUuid(application), parseUuid(tenant)]
      const kept =
        applicationId === null || tenantId === null ? null : await find({ applicationId, tenantId })
      if (kept?.answer) return kept.answer
      throw new AppError('not_found', 'the application is not enabled for this tenant')
    },
    forAllTenants: async (application: string): Promise<EncodedJson> => {
      const applicationId = parseUuid(application)
      const kept = applicationId === null ? null : await find({ applicationId, tenantId: null })
      if (kept?.answer) return kept.answer
      throw notFound('application')
    },
  }
}
