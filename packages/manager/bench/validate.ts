// The hottest question: who is this, and what may he do here? The service beside the bare engine, in one run, in turn.
//   node bench/validate.ts [--rounds 12] [--seconds 5] [--connections 1,16,64] [--kinds pat,bearer,basic] [--tenants 3]
import { spawn } from 'node:child_process'
import { mkdtempSync, openSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { parseArgs } from 'node:util'
import { Pool } from 'pg'
import { headersOf, proxySecret, testEnv } from '../test/kit/app.ts'
import { basicValue, createMachine, createToken, validate } from '../test/kit/credentials.ts'
import { createScratchDatabase } from '../test/kit/databases.ts'
import { postQuery } from '../test/kit/graphql.ts'
import { seedMember, seedProject, seedTenant, seedUser } from '../test/kit/seed.ts'
import { type Load, cpuMs, median, quantile, runLoad } from './load.ts'

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

const say = (line: string): void => void process.stdout.write(`${line}\n`)

/** Starts a program and waits for the port it names in its output, which goes to a file as a service's does. */
async function start(file: string, args: string[], env: NodeJS.ProcessEnv, port: RegExp) {
  const out = `${mkdtempSync(`${tmpdir()}/manager-bench-`)}/out.log`
  const path = new URL(file, import.meta.url).pathname
  const child = spawn(process.execPath, [path, ...args], {
    env,
    stdio: ['ignore', openSync(out, 'w'), 'inherit'],
  })
  for (let tries = 0; tries < 200; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    const [, found] = port.exec(readFileSync(out, 'utf8')) ?? []
    if (found !== undefined)
      return { pid: child.pid as number, url: `http://127.0.0.1:${found}`, stop: () => child.kill() }
  }
  throw new Error(`${file} did not start`)
}

const database = await createScratchDatabase()
const sql = new Pool({ connectionString: database.url, max: 2 })
const path = { PATH: process.env['PATH'] }
const env = {
  ...path,
  ...testEnv(database.url),
  SVC_PORT: '0',
  SVC_HEALTH_PORT: '0',
  SVC_DATABASE_POOL_SIZE: '10',
}
const service = await start('../src/main.ts', [], env, /"port":(\d+)/)
const bare = await start('./bare.ts', [database.url], path, /^(\d+)\n/)

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
const loadOf = (url: string, authorizations: string[]): Load => ({
  url: `${url}/api/validate-proxy-auth`,
  headers: {
    'content-type': 'application/json',
    'x-proxy-auth': proxySecret,
    'x-forwarded-for': '203.0.113.9',
  },
  bodies: authorizations.map((authorization_header) =>
    JSON.stringify({ authorization_header, application_id: project.applicationId }),
  ),
})

say(
  `${accounts} accounts, ${tenants} tenants, ${rounds} rounds of ${seconds} s each, in turn; ratio = service / bare`,
)
for (const kind of options.kinds.split(',')) {
  const authorizations = headersByKind[kind] ?? []
  for (const header of authorizations) {
    const { status } = await validate(service.url, header, project.applicationId, '203.0.113.9')
    if (status !== 200) throw new Error(`warming ${kind} answered ${status}`)
  }
  for (const connections of options.connections.split(',').map(Number)) {
    const ratios: number[] = []
    const measured = { service: [] as number[], bare: [] as number[] }
    const cpu = { service: [] as number[], bare: [] as number[] }
    const p99 = { service: [] as number[], bare: [] as number[] }
    for (let round = 0; round < rounds; round++) {
      for (const [name, side, load] of [
        ['bare', bare, loadOf(bare.url, tokens)],
        ['service', service, loadOf(service.url, authorizations)],
      ] as const) {
        const before = cpuMs(side.pid)
        const result = await runLoad(load, connections, seconds)
        if (result.failed > 0) throw new Error(`${result.failed} of ${result.requests} requests failed`)
        if (round === 0) continue
        measured[name].push(result.perSecond)
        p99[name].push(result.p99Ms)
        cpu[name].push(((cpuMs(side.pid) - before) * 1_000) / result.requests)
      }
      if (round > 0) ratios.push((measured.service.at(-1) as number) / (measured.bare.at(-1) as number))
    }
    say(
      `${kind.padEnd(6)} c=${String(connections).padEnd(3)} ratio=${median(ratios).toFixed(2)} ` +
        `(${quantile(ratios, 0.25).toFixed(2)}..${quantile(ratios, 0.75).toFixed(2)}) ` +
        `service=${median(measured.service).toFixed(0)}/s bare=${median(measured.bare).toFixed(0)}/s ` +
        `p99=${median(p99.service).toFixed(1)}/${median(p99.bare).toFixed(1)} ms ` +
        `cpu=${median(cpu.service).toFixed(0)}/${median(cpu.bare).toFixed(0)} us per request`,
    )
  }
}
service.stop()
bare.stop()
await sql.end()
await database.drop()
