// Compares a GraphQL list (20 rows with 8 fields) with a REST route that runs the same SQL in the same process, in
// alternating rounds. Responses of this size take milliseconds, so a load generator in JavaScript is fast enough.
//   node bench/list.ts [--rounds 12] [--seconds 3] [--connections 16]
import { parseArgs } from 'node:util'
import { Pool } from 'pg'
import { Agent } from 'undici'
import { headersOf } from '@manager/harness/callers.ts'
import { createScratchDatabase } from '../test/kit/databases.ts'
import { seedProject, seedUser } from '@manager/harness/seed.ts'
import { readCpuMs, median, quantile } from './load.ts'
import { type Side, printLine, startBare } from './sides.ts'

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '12' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '16' },
  },
})
const [rounds, seconds, connections] = [options.rounds, options.seconds, options.connections].map(Number) as [
  number,
  number,
  number,
]

const database = await createScratchDatabase()
const sql = new Pool({ connectionString: database.url, max: 2 })
const admin = await seedUser(sql, 'admin', 'administrator')
const project = await seedProject(sql, 'bench')
await sql.query(
  `insert into endpoints (id, project_id, application_id, name, description, enabled, consume_url, url, auth_type,
     auth_username, transformation_template, log_level)
   select gen_random_uuid(), $1, $2, 'endpoint ' || n, 'what endpoint ' || n || ' is for', true, '/orders/' || n,
     'https://partner.example/orders/' || n, 'None', '', '', 'BASIC' from generate_series(1, 100) n`,
  [project.id, project.applicationId],
)
await sql.query('analyze')

const headers = { ...headersOf(admin), 'content-type': 'application/json' }
const query = `query($application: ID!, $pagination: Pagination) {
  endpoints(application: $application, pagination: $pagination) {
    id name description enabled consumeURL url authType logLevel
  }
}`
const variables = { application: project.applicationId, pagination: { limit: 20, offset: 0 } }
const requestsByApi = {
  graphql: { path: '/query', body: JSON.stringify({ query, variables }) },
  rest: { path: '/list', body: JSON.stringify({ application: project.applicationId }) },
}
type Api = keyof typeof requestsByApi
type Measurement = { perSecond: number; cpuUs: number }

const dispatcher = new Agent({ connections })

/** Sends requests for this many seconds. Returns the requests per second and the server's CPU time per request. */
async function load(side: Side, api: Api, forSeconds: number): Promise<Measurement> {
  const { path, body } = requestsByApi[api]
  const [start, cpu, end] = [performance.now(), readCpuMs(side.pid), performance.now() + forSeconds * 1_000]
  let requests = 0
  const sendRequests = async (): Promise<void> => {
    while (performance.now() < end) {
      const response = await dispatcher.request({ origin: side.url, path, method: 'POST', headers, body })
      const text = await response.body.text()
      if (response.statusCode !== 200 || text.length < 4_000) throw new Error(`${api} returned ${text}`)
      requests++
    }
  }
  await Promise.all(Array.from({ length: connections }, sendRequests))
  return {
    perSecond: (requests * 1_000) / (performance.now() - start),
    cpuUs: ((readCpuMs(side.pid) - cpu) * 1_000) / requests,
  }
}

const side = await startBare('./list-side.ts', [database.url])
printLine(`20 rows of 8 fields, ${rounds} alternating rounds of ${seconds} s, ${connections} connections`)
const ratios = { rate: [] as number[], cpu: [] as number[] }
const measurementsByApi = { graphql: [] as Measurement[], rest: [] as Measurement[] }
for (let round = 0; round <= rounds; round++) {
  const rest = await load(side, 'rest', seconds)
  const graphql = await load(side, 'graphql', seconds)
  // The first round is a warm-up.
  if (round === 0) continue
  measurementsByApi.rest.push(rest)
  measurementsByApi.graphql.push(graphql)
  ratios.rate.push(graphql.perSecond / rest.perSecond)
  ratios.cpu.push(rest.cpuUs / graphql.cpuUs)
}
const formatRatios = (values: number[]): string =>
  `${median(values).toFixed(2)} (${quantile(values, 0.25).toFixed(2)}..${quantile(values, 0.75).toFixed(2)})`
printLine(
  `list c=${connections} ratio=${formatRatios(ratios.rate)} CPU time ratio=${formatRatios(ratios.cpu)}`,
)
for (const [api, measurements] of Object.entries(measurementsByApi))
  printLine(
    `${api}: ${median(measurements.map(({ perSecond }) => perSecond)).toFixed(0)}/s, ` +
      `${median(measurements.map(({ cpuUs }) => cpuUs)).toFixed(0)} us per request`,
  )
side.stop()
await dispatcher.close()
await sql.end()
await database.drop()
