import type { ApiServer } from '../../platform/http/declarations.ts'
import { sendCached } from '../../platform/http/send-cached.ts'
import { defaultConfigSchema, tenantConfigSchema } from './frontend-config.schemas.ts'
import type { FrontendConfigService } from './frontend-config.service.ts'

// The route without a tenant is deprecated in favor of the tenant route, and sends these headers (RFC 9745, RFC 8594).
const deprecatedAt = '2026-11-15T00:00:00Z'
const sunsetAt = '2027-05-15T00:00:00Z'
const deprecation = `@${Date.parse(deprecatedAt) / 1_000}`
const sunset = new Date(sunsetAt).toUTCString()

/** Registers the routes that the trusted proxy uses to fetch the configuration of a frontend. */
export function registerFrontendConfigRoutes(server: ApiServer, configs: FrontendConfigService): void {
  const config = { policy: { proxy: 'frontends load their configuration before users sign in' } }
  server.get(
    '/api/frontend-config/:application_id/:tenant_id',
    { config, schema: tenantConfigSchema },
    async (request, reply) => {
      const { application_id, tenant_id } = request.params
      return sendCached(request, reply, await configs.forTenant(application_id, tenant_id))
    },
  )
  server.get(
    '/api/frontend-config/:application_id',
    { config, schema: defaultConfigSchema },
    async (request, reply) => {
      void reply.headers({ deprecation, sunset })
      return sendCached(request, reply, await configs.forAllTenants(request.params.application_id))
    },
  )
}
