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
import { compare, say, startBare, startService } from './sides.ts'

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
const feed = `/pilet-feed/${project.applicationId}/${project.tenantId}`
const { items } = (await (await fetch(`${service.url}${feed}`, { headers })).json()) as {
  items: { link: string }[]
}
const bundle = items[0]?.link ?? ''

// Headers that belong to the connection or to a single request.
const unlike = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding', 'x-request-id'])
/** Returns the response of the service, so that the bare server can send the same response. */
async function asConstant(route: string, path: string, sent: Record<string, string>): Promise<Constant> {
  const answer = await fetch(`${service.url}${path}`, { headers: sent })
  const lines = [...answer.headers].filter(([name]) => !unlike.has(name))
  return { route, status: answer.status, headers: Object.fromEntries(lines), body: await answer.text() }
}

say(
  `${modules} modules, bundles of ${bytes} bytes, ${rounds} alternating rounds of ${seconds} s; ratio = service / bare`,
)
// Each case uses one address: the bare server has one buffer, and rotating through many addresses would add memory
// transfers.
for (const { name, route, path } of [
  { name: 'feed', route: '/pilet-feed/:applicationId/:tenantId', path: feed },
  { name: 'bundle', route: '/pilet-bundle/:applicationId/:projectId/:name/:version', path: bundle },
]) {
  const etag = (await fetch(`${service.url}${path}`, { headers })).headers.get('etag') ?? ''
  for (const [status, sent] of [
    [200, headers],
    [304, { ...headers, 'if-none-match': etag }],
  ] as const) {
    const constant = await asConstant(route, path, sent)
    if (constant.status !== status) throw new Error(`${path} returned ${constant.status}`)
    const bare = await startBare('./bare-constant.ts', [JSON.stringify(constant)])
    for (const connections of options.connections.split(',').map(Number))
      await compare({
        name: `${name} ${status}`,
        service: {
          side: service,
          load: { url: service.url, headers: sent, requests: { paths: [path] } },
        },
        bare: { side: bare, load: { url: bare.url, headers: sent, requests: { paths: [path] } } },
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
