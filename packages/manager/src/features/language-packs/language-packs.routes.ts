import type { FastifyInstance } from 'fastify'
import { sendPrepared } from '../../platform/http/prepared.ts'
import type { ServedPacks } from './served-packs.service.ts'

/** The route by which the trusted proxy fetches the texts of a frontend. */
export function registerLanguagePackRoutes(server: FastifyInstance, findPack: ServedPacks): void {
  const policy = { proxy: 'frontends show texts before anyone signs in' }
  server.get('/language-packs/:applicationId/:locale', { config: { policy } }, async (request, reply) => {
    const { applicationId, locale } = request.params as { applicationId: string; locale: string }
    return sendPrepared(request, reply, await findPack(applicationId, locale))
  })
}
