// Looks up responses for frontends by application and tenant: parses the ids, and throws 404 if nothing is served.
import { AppError, notFound } from '../errors.ts'
import { parseUuid } from '../ids.ts'
import type { EncodedJson } from './encoded-json.ts'

/** If the tenant is null, the scope covers all tenants. */
type Scope = { applicationId: string; tenantId: string | null }
/** The response is null if the application is not enabled. */
type Find = (scope: Scope) => Promise<{ answer: EncodedJson | null } | null>

/** Creates lookups by unparsed ids; they throw 404 if nothing is served. */
export function createServedResponses(find: Find) {
  return {
    forTenant: async (application: string, tenant: string): Promise<EncodedJson> => {
      const [applicationId, tenantId] = [parseUuid(application), parseUuid(tenant)]
      const cachedResponse =
        applicationId === null || tenantId === null ? null : await find({ applicationId, tenantId })
      if (cachedResponse?.answer) return cachedResponse.answer
      throw new AppError('not_found', 'the application is not enabled for this tenant')
    },
    forAllTenants: async (application: string): Promise<EncodedJson> => {
      const applicationId = parseUuid(application)
      const cachedResponse = applicationId === null ? null : await find({ applicationId, tenantId: null })
      if (cachedResponse?.answer) return cachedResponse.answer
      throw notFound('application')
    },
  }
}
