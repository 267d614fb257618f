// Compares the validation of credentials, a proxy's most frequent request, with the bare server, in alternating rounds.
//   node bench/validate.ts [--rounds 12] [--seconds 5] [--connections 1,16,64] [--kinds pat,bearer,basic] [--tenants 3]
import { parseArgs } from 'node:util'
import { Pool } from 'pg'
import { headersOf, proxySecret } from '@manager/harness/callers.ts'
import { basicValue, createMachine, createToken, validate } from '@manager/harness/credentials.ts'
import { createScratchDatabase } from '../test/kit/databases.ts'
import { postQuery } from '@manager/harness/graphql.ts'
import { seedMember, seedProject, seedTenant, seedUser } from '@manager/harness/seed.ts'
import type { Load } from './load.ts'
import { compare, printLine, startBare, startService } from './sides.ts'

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '12' },
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '1,16,64' },
    kinds: { type: 'string', default: 'pat,bearer,basic' },
    tenants: { type: 'string', default: '3' },
  },
})
const accounts = 16
const [rounds, seconds, tenants] = [options.rounds, options.seconds, options.tenants].map(Number) as [
  number,
  number,
  number,
]

const database = await createScratchDatabase()
const sql = new Pool({ connectionString: database.url, max: 2 })
const service = await startService(database.url)
const bare = await startBare('./bare.ts', [database.url])

const project = await seedProject(sql, 'bench')
const admin = await seedUser(sql, 'admin', 'administrator')
const person = await seedUser(sql, 'person')
await seedMember(sql, person, 'member', { projectId: project.id, tenantId: project.tenantId })
for (let i = 1; i < tenants; i++) {
  const id = crypto.randomUUID()
  await seedTenant(sql, project.id, id, `t${i}`)
  await seedMember(sql, person, 'member', { projectId: project.id, tenantId: id })
  await sql.query(
    'insert into tenant2applications (id, project_id, tenant_id, application_id, enabled) values (gen_random_uuid(), $1, $2, $3, true)',
    [project.id, id, project.applicationId],
  )
}
await sql.query('analyze')

const api = {
  query: (who: typeof admin, text: string, variables?: Record<string, unknown>) =>
    postQuery(service.url, headersOf(who), text, variables),
}
const tokens: string[] = []
const headersByKind: Record<string, string[]> = { pat: tokens, bearer: [], basic: [] }
for (let i = 0; i < accounts; i++) {
  tokens.push(`Bearer ${(await createToken(api, person)).token}`)
  headersByKind['bearer']?.push(`Bearer ${(await createMachine(api, admin, project.environmentId)).token}`)
  await createMachine(api, admin, project.environmentId, { username: `b${i}`, password: `password-${i}` })
  headersByKind['basic']?.push(basicValue(`b${i}`, `password-${i}`))
}
const createLoad = (url: string, authorizations: string[]): Load => ({
  url: `${url}/api/validate-proxy-auth`,
  headers: {
    'content-type': 'application/json',
    'x-proxy-auth': proxySecret,
    'x-forwarded-for': '203.0.113.9',
  },
  requests: {
    bodies: authorizations.map((authorization_header) =>
      JSON.stringify({ authorization_header, application_id: project.applicationId }),
    ),
  },
})

printLine(
  `${accounts} accounts, ${tenants} tenants, ${rounds} alternating rounds of ${seconds} s; ratio = Manager / baseline`,
)
for (const kind of options.kinds.split(',')) {
  const authorizations = headersByKind[kind] ?? []
  for (const header of authorizations) {
    const { status } = await validate(service.url, header, project.applicationId, '203.0.113.9')
    if (status !== 200) throw new Error(`the warm-up of ${kind} returned ${status}`)
  }
  for (const connections of options.connections.split(',').map(Number))
    await compare({
      name: kind.padEnd(6),
      service: { side: service, load: createLoad(service.url, authorizations) },
      bare: { side: bare, load: createLoad(bare.url, tokens) },
      connections,
      rounds,
      seconds,
    })
}
service.stop()
bare.stop()
await sql.end()
await database.drop()
