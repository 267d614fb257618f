import type { FastifyInstance } from 'fastify'
import { sendPrepared } from '../../platform/http/prepared.ts'
import type { FrontendConfigService } from './frontend-config.service.ts'

// The tenant-less address has answered with these two since the tenant-qualified one took its place (RFC 9745, RFC 8594).
const deprecatedAt = '2026-11-15T00:00:00Z'
const sunsetAt = '2027-05-15T00:00:00Z'
const deprecation = `@${Date.parse(deprecatedAt) / 1_000}`
const sunset = new Date(sunsetAt).toUTCString()

/** The routes by which the trusted proxy learns what a frontend is to load. */
export function registerFrontendConfigRoutes(server: FastifyInstance, configs: FrontendConfigService): void {
  const policy = { proxy: 'frontends are configured before anyone signs in' }
  server.get(
    '/api/frontend-config/:application_id/:tenant_id',
    { config: { policy } },
    async (request, reply) => {
      const { application_id, tenant_id } = request.params as { application_id: string; tenant_id: string }
      return sendPrepared(request, reply, await configs.forTenant(application_id, tenant_id))
    },
  )
  server.get('/api/frontend-config/:application_id', { config: { policy } }, async (request, reply) => {
    const { application_id } = request.params as { application_id: string }
    void reply.headers({ deprecation, sunset })
    return sendPrepared(request, reply, await configs.forAllTenants(application_id))
  })
}
