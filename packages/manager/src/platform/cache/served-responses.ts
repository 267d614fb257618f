// Looks up responses for frontends by application and tenant: parses the ids, and throws 404 if nothing is served.
import { AppError, notFound } from '../errors.ts'
import { parseUuid } from '../ids.ts'
import type { EncodedJson } from './encoded-json.ts'

/** A null tenant stands for all tenants. */
type Scope = { applicationId: string; tenantId: string | null }
/** Returns a null answer if the application is not enabled. */
type Find = (scope: Scope) => Promise<{ answer: EncodedJson | null } | null>

/** Creates lookups by unparsed ids; they throw 404 if nothing is served. */
export function createServedResponses(find: Find) {
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
