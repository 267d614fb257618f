import type { ApiServer } from '../../platform/http/declarations.ts'
import { sendCached } from '../../platform/http/send-cached.ts'
import { languagePackSchema } from './language-packs.schemas.ts'
import type { FindServedPack } from './served-packs.service.ts'

/** Registers the route that the trusted proxy uses to fetch the translations of a frontend. */
export function registerLanguagePackRoutes(server: ApiServer, findPack: FindServedPack): void {
  const config = { policy: { proxy: 'frontends show translated text before users sign in' } }
  server.get(
    '/language-packs/:applicationId/:locale',
    { config, schema: languagePackSchema },
    async (request, reply) => {
      const { applicationId, locale } = request.params
      return sendCached(request, reply, await findPack(applicationId, locale))
    },
  )
}
