// Compares the frontend configuration route with a Fastify server that sends a constant buffer, in
// alternating rounds. Every page view requests this route, and its response is never stale. The case `304`
// sends the current ETag.
//   node bench/frontend-config.ts [--rounds 12] [--seconds 5] [--connections 1,16,64] [--asked 16] [--tenants 1000]
import { parseArgs } from 'node:util'
import { Pool } from 'pg'
import { headersOf, proxySecret } from '@manager/harness/callers.ts'
import { createScratchDatabase } from '../test/kit/databases.ts'
import { postQuery } from '@manager/harness/graphql.ts'
import { seedProject, seedUser } from '@manager/harness/seed.ts'
import type { Constant } from './bare-constant.ts'
import { compare, printLine, startBare, startService } from './sides.ts'

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '12' },
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '1,16,64' },
    asked: { type: 'string', default: '16' },
    tenants: { type: 'string', default: '1000' },
  },
})
const [rounds, seconds, tenants, asked] = [
  options.rounds,
  options.seconds,
  options.tenants,
  options.asked,
].map(Number) as [number, number, number, number]

const database = await createScratchDatabase()
const sql = new Pool({ connectionString: database.url, max: 2 })
const service = await startService(database.url)
const admin = await seedUser(sql, 'admin', 'administrator')
const project = await seedProject(sql, 'bench')
await sql.query(
  `insert into tenants (id, project_id, name, slug)
   select gen_random_uuid(), $1, 'tenant ' || n, 't' || n from generate_series(2, $2) n`,
  [project.id, tenants],
)
await sql.query(
  `insert into tenant2applications (id, project_id, tenant_id, application_id, enabled)
   select gen_random_uuid(), project_id, id, $2, true from tenants where project_id = $1 on conflict do nothing`,
  [project.id, project.applicationId],
)
await sql.query('analyze')

const runQuery = async (text: string, variables: Record<string, unknown>) => {
  const { data, error } = await postQuery(service.url, headersOf(admin), text, variables)
  if (error !== null) throw new Error(error)
  return data
}
const { settings } = await runQuery('query($id: ID!) { settings(project: $id) { id } }', { id: project.id })
await runQuery(
  `mutation($id: ID!, $input: UpdateFrontendModuleConfigInput!) {
    updateFrontendModuleConfig(id: $id, input: $input) { id }
  }`,
  {
    id: settings.id,
    input: {
      EnabledThemes: ['light', 'dark'],
      DefaultTheme: 'light',
      EnabledLocales: ['de', 'en'],
      DefaultLocale: 'en',
      KeyValuePairs: Array.from({ length: 20 }, (_, n) => ({ Key: `feature.${n}`, Value: `value ${n}` })),
    },
  },
)

const { rows } = await sql.query<{ id: string }>('select id from tenants order by random() limit $1', [asked])
const paths = rows.map(({ id }) => `/api/frontend-config/${project.applicationId}/${id}`)
const headers = { 'x-proxy-auth': proxySecret }
const firstResponse = await fetch(`${service.url}${paths[0]}`, { headers })
if (firstResponse.status !== 200) throw new Error(`the first request returned ${firstResponse.status}`)
const body = await firstResponse.text()
const constant: Constant = {
  route: '/api/frontend-config/:application_id/:tenant_id',
  status: 200,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body,
}
const bare = await startBare('./bare-constant.ts', [JSON.stringify(constant)])

printLine(
  `${tenants} tenants, ${asked} requested, ${body.length} bytes, ${rounds} alternating rounds of ${seconds} s; ratio = Manager / baseline`,
)
const conditionalHeaders = { ...headers, 'if-none-match': firstResponse.headers.get('etag') ?? '' }
for (const [name, sentHeaders] of [
  ['200', headers],
  ['304', conditionalHeaders],
] as const)
  for (const connections of options.connections.split(',').map(Number))
    await compare({
      name,
      service: { side: service, load: { url: service.url, headers: sentHeaders, requests: { paths } } },
      bare: { side: bare, load: { url: bare.url, headers, requests: { paths } } },
      connections,
      rounds,
      seconds,
    })
service.stop()
bare.stop()
await sql.end()
await database.drop()
