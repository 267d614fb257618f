// Starts the service with an additional route, which returns the list of `list.ts` as plain JSON with the same hooks,
// policy and SQL. The benchmark measures the additional cost of GraphQL.
import type { AddressInfo } from 'node:net'
import { createApp } from '../src/app.ts'
import { settings } from '../src/settings.ts'
import { loadConfig } from '../src/config/config.ts'
import { endpointFields, listEndpoints } from '../src/features/endpoints/endpoints.store.ts'
import { readPage } from '../src/platform/lists/filters.ts'
import { type Policy, authorize } from '../src/policy/authorize.ts'
import { createWorld } from '../src/world.ts'
import { testEnv } from '@manager/harness/test-env.ts'

const [databaseUrl = ''] = process.argv.slice(2)
const config = loadConfig({ env: testEnv(databaseUrl, { SVC_DATABASE_POOL_SIZE: '10' }) }, settings)
const world = createWorld(config)
const page = readPage(endpointFields, { pagination: { limit: 20, offset: 0 } })
const policy: Policy = { do: 'ENDPOINT_READ', on: ['application'], in: 'APPLICATION' }

const app = await createApp(config, world, {
  extend: (server) => {
    const options = { config: { policy: { user: 'the handler checks the permission' } } }
    server.post<{ Body: { application: string } }>('/list', options, async ({ actor, body }) => {
      if (actor === undefined) throw new Error('the request has no actor')
      await authorize(actor, policy, [body.application])
      const rows = await listEndpoints(world.database.db.read, [body.application], page)
      return {
        rows: rows.map(({ id, name, description, enabled, consumeUrl, url, authType, logLevel }) => ({
          id,
          name,
          description,
          enabled,
          consumeURL: consumeUrl,
          url,
          authType,
          logLevel,
        })),
      }
    })
  },
})
await app.server.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`${(app.server.server.address() as AddressInfo).port}\n`)
