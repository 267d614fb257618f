// Compares the pilet feed and the bundles, which every page view requests, with a Fastify server that sends the same
// bytes and headers. Measures 200 and 304 responses in alternating rounds.
//   node bench/pilets.ts [--rounds 12] [--seconds 5] [--connections 1,16,64] [--modules 20] [--bytes 100000]
import { parseArgs } from 'node:util'
import { Pool } from 'pg'
import { proxySecret } from '@manager/harness/callers.ts'
import { createScratchDatabase } from '../test/kit/databases.ts'
import { addPackages, setLayer } from '../test/kit/pilet-rows.ts'
import { seedProject } from '@manager/harness/seed.ts'
import type { Constant } from './bare-constant.ts'
import { compare, printLine, startBare, startService } from './sides.ts'

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '12' },
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '1,16,64' },
    modules: { type: 'string', default: '20' },
    bytes: { type: 'string', default: '100000' },
  },
})
const [rounds, seconds, modules, bytes] = [
  options.rounds,
  options.seconds,
  options.modules,
  options.bytes,
].map(Number) as [number, number, number, number]

const database = await createScratchDatabase()
const sql = new Pool({ connectionString: database.url, max: 2 })
const project = await seedProject(sql, 'bench')
const names = Array.from({ length: modules }, (_, n) => `@bench/pilet-${n}`)
await addPackages(
  sql,
  project.id,
  names.map((name) => ({ name, version: '1.0.0', bytes: Buffer.from(`// ${name} `.padEnd(bytes, 'x')) })),
)
await setLayer(sql, project, 'application', { modules: names })
await sql.query('analyze')

const service = await startService(database.url)
const headers = { 'x-proxy-auth': proxySecret }
const feedPath = `/pilet-feed/${project.applicationId}/${project.tenantId}`
const { items } = (await (await fetch(`${service.url}${feedPath}`, { headers })).json()) as {
  items: { link: string }[]
}
const bundlePath = items[0]?.link ?? ''

// Headers that belong to the connection or to a single request.
const ignoredHeaders = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding', 'x-request-id'])
/** Fetches a response of the service, so that the bare server can send the same response. */
async function fetchConstant(
  route: string,
  path: string,
  sentHeaders: Record<string, string>,
): Promise<Constant> {
  const response = await fetch(`${service.url}${path}`, { headers: sentHeaders })
  const sharedHeaders = [...response.headers].filter(([name]) => !ignoredHeaders.has(name))
  return {
    route,
    status: response.status,
    headers: Object.fromEntries(sharedHeaders),
    body: await response.text(),
  }
}

printLine(
  `${modules} modules, bundles of ${bytes} bytes, ${rounds} alternating rounds of ${seconds} s; ratio = Manager / baseline`,
)
// Each case uses one address. The bare server has only one buffer, and cycling through many addresses would add memory
// transfers.
for (const { name, route, path } of [
  { name: 'feed', route: '/pilet-feed/:applicationId/:tenantId', path: feedPath },
  { name: 'bundle', route: '/pilet-bundle/:applicationId/:projectId/:name/:version', path: bundlePath },
]) {
  const etag = (await fetch(`${service.url}${path}`, { headers })).headers.get('etag') ?? ''
  for (const [status, sentHeaders] of [
    [200, headers],
    [304, { ...headers, 'if-none-match': etag }],
  ] as const) {
    const constant = await fetchConstant(route, path, sentHeaders)
    if (constant.status !== status) throw new Error(`${path} returned ${constant.status}`)
    const bare = await startBare('./bare-constant.ts', [JSON.stringify(constant)])
    for (const connections of options.connections.split(',').map(Number))
      await compare({
        name: `${name} ${status}`,
        service: {
          side: service,
          load: { url: service.url, headers: sentHeaders, requests: { paths: [path] } },
        },
        bare: { side: bare, load: { url: bare.url, headers: sentHeaders, requests: { paths: [path] } } },
        connections,
        rounds,
        seconds,
      })
    bare.stop()
  }
}
service.stop()
await sql.end()
await database.drop()
