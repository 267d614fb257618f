// Compares ESB calls with a bare proxy (node:http and undici) without authentication and logging, in alternating
// rounds.
//   node bench/esb.ts [--rounds 12] [--seconds 5] [--connections 1,16,64] [--kinds none,basic,full,post,template]
// The kinds none, basic and full send GET requests at that log level. The kind post sends a body of 1 KB at level
// BASIC, and template also transforms it.
import { parseArgs } from 'node:util'
import { Pool } from 'pg'
import { headersOf } from '@manager/harness/callers.ts'
import { createMachine } from '@manager/harness/credentials.ts'
import { createScratchDatabase } from '../test/kit/databases.ts'
import { postQuery } from '@manager/harness/graphql.ts'
import { seedProject, seedUser } from '@manager/harness/seed.ts'
import type { Load } from './load.ts'
import { compare, printLine, startBare, startService } from './sides.ts'

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '12' },
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '1,16,64' },
    kinds: { type: 'string', default: 'basic,template,none,full,post' },
  },
})
const [rounds, seconds] = [options.rounds, options.seconds].map(Number) as [number, number]

const database = await createScratchDatabase()
const sql = new Pool({ connectionString: database.url, max: 2 })
const service = await startService(database.url)
const upstream = await startBare('./upstream.ts', [])
const bare = await startBare('./bare-proxy.ts', [upstream.url])
const bareTemplate = await startBare('./bare-proxy.ts', [upstream.url, 'template'])

const admin = await seedUser(sql, 'admin', 'administrator')
const project = await seedProject(sql, 'bench')
const api = {
  query: (who: typeof admin, text: string, variables?: Record<string, unknown>) =>
    postQuery(service.url, headersOf(who), text, variables),
}
const machine = await createMachine(api, admin, project.environmentId)
const runQuery = async (text: string, variables: Record<string, unknown>) => {
  const { data, error } = await api.query(admin, text, variables)
  if (error !== null) throw new Error(error)
  return data
}
const template =
  '{"order":"{{.Data.id}}","to":{{toJson .Data.customer}},"by":"{{.User.Name}}","lines":{{toJson .Data.lines}}}'
const inputs: Record<string, object> = {
  none: { logLevel: 'NONE' },
  basic: { logLevel: 'BASIC' },
  full: { logLevel: 'FULL' },
  post: { logLevel: 'BASIC' },
  template: { logLevel: 'BASIC', transformationTemplate: template },
}
const order = {
  id: 'o-4711',
  customer: { name: 'Ada', city: 'Köln' },
  lines: Array.from({ length: 12 }, (_, n) => ({ sku: `sku-${n}`, quantity: n, note: 'x'.repeat(30) })),
}

printLine(`${rounds} alternating rounds of ${seconds} s; ratio = Manager / baseline`)
for (const kind of options.kinds.split(',')) {
  const { row } = await runQuery(
    'mutation($id: ID!, $input: CreateEndpointInput!) { row: createEndpoint(applicationId: $id, input: $input) { id } }',
    {
      id: project.applicationId,
      input: { name: kind, consumeURL: `/${kind}`, url: `${upstream.url}/target`, ...inputs[kind] },
    },
  )
  await runQuery(
    'mutation($input: CreateMachineUser2EndpointInput!) { createMachineUser2Endpoint(input: $input) { id } }',
    { input: { machineUserID: machine.id, endpointID: row.id, enabled: true } },
  )
  const path = `/esb/${project.applicationId}/${kind}`
  const isPost = kind === 'post' || kind === 'template'
  const headers = {
    authorization: `Bearer ${machine.token}`,
    ...(isPost ? { 'content-type': 'application/json' } : {}),
  }
  const load = (url: string): Load => ({
    url: `${url}${path}`,
    headers,
    requests: isPost ? { bodies: [JSON.stringify(order)] } : { paths: [path] },
  })
  const bareSide = kind === 'template' ? bareTemplate : bare
  for (const connections of options.connections.split(',').map(Number))
    await compare({
      name: kind.padEnd(8),
      service: { side: service, load: load(service.url) },
      bare: { side: bareSide, load: load(bareSide.url) },
      connections,
      rounds,
      seconds,
    })
}
for (const side of [service, upstream, bare, bareTemplate]) side.stop()
await sql.end()
await database.drop()
