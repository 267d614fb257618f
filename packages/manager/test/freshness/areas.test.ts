// Tests every kind of change against every kind of cached response. Responses that depend on the change are
// rebuilt and match those of a cold process. All other responses are not rebuilt. The tests apply the changes
// directly in the database, because database triggers mark them.
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Area, areas } from '../../src/platform/postgres/project-version.ts'
import { type Person, proxySecret } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { createToken, throughProxy, validate } from '@manager/harness/credentials.ts'
import { type Gateway, startGateway } from '../kit/gateway.ts'
import { freshClient } from '../kit/machines.ts'
import { addPackages, setLayer } from '../kit/pilet-rows.ts'
import { planOf } from '../kit/plans.ts'
import { seedUser } from '@manager/harness/seed.ts'

let gateway: Gateway
let person: Person
let token: string
let endpoint: { id: string; path: string }
beforeAll(async () => {
  gateway = await startGateway()
  const { service, project } = gateway
  person = await seedUser(service.sql, 'person')
  token = (await createToken(service, person)).token
  endpoint = await gateway.endpoint({
    url: `${gateway.upstream.url}/target`,
    logLevel: 'NONE',
    transformationTemplate: '{{.Application.Name}}',
  })
  await service.sql.query(
    `insert into language_packs (id, project_id, name, content, content_bytes)
     values (gen_random_uuid(), $1, 'de', '[{"Key": "a", "Value": "b"}]', 30)`,
    [project.id],
  )
  // The bundle is JSON, so that the test can parse it like the other responses.
  const bytes = Buffer.from('{"a": "b"}')
  await addPackages(service.sql, project.id, [{ name: '@acme/menu', version: '1.0.0', bytes }])
  await setLayer(service.sql, project, 'project', { modules: ['@acme/menu'] })
})
afterAll(() => gateway.close())

type SentResponse = [status: number, body: unknown]
const withoutId = (body: object): object => ({ ...body, request_id: undefined })
type ResponseName =
  'config' | 'shared config' | 'pack' | 'feed' | 'shared feed' | 'bundle' | 'target' | 'person' | 'machine'

const get = async (to: TestApp, path: string): Promise<SentResponse> => {
  const response = await fetch(`${to.url}${path}`, { headers: { 'x-proxy-auth': proxySecret } })
  return [response.status, withoutId((await response.json()) as object)]
}
const access = async (to: TestApp, secret: string): Promise<SentResponse> => {
  const { status, body } = await validate(
    to.url,
    `Bearer ${secret}`,
    gateway.project.applicationId,
    freshClient(),
  )
  return [status, withoutId(body as object)]
}
const ask: Record<ResponseName, (to: TestApp) => Promise<SentResponse>> = {
  config: (to) =>
    get(to, `/api/frontend-config/${gateway.project.applicationId}/${gateway.project.tenantId}`),
  'shared config': (to) => get(to, `/api/frontend-config/${gateway.project.applicationId}`),
  pack: (to) => get(to, `/language-packs/${gateway.project.applicationId}/de`),
  feed: (to) => get(to, `/pilet-feed/${gateway.project.applicationId}/${gateway.project.tenantId}`),
  'shared feed': (to) => get(to, `/pilet-feed/${gateway.project.applicationId}`),
  bundle: (to) =>
    get(to, `/pilet-bundle/${gateway.project.applicationId}/${gateway.project.id}/%40acme%2Fmenu/1.0.0`),
  target: async (to) => {
    gateway.upstream.reset()
    const headers: [string, string][] = Object.entries(throughProxy(freshClient()))
    const { status } = await gateway.send(endpoint.path, { to, method: 'POST', body: '{}', headers })
    return [status, gateway.upstream.received.map(({ body }) => body.toString())]
  },
  person: (to) => access(to, token),
  machine: (to) => access(to, gateway.machine.token),
}
const answers = Object.keys(ask) as ResponseName[]
const areaOf: Record<ResponseName, Area> = {
  config: 'settings',
  'shared config': 'settings',
  pack: 'texts',
  feed: 'pilets',
  'shared feed': 'pilets',
  bundle: 'pilets',
  target: 'endpoints',
  person: 'access',
  machine: 'access',
}
// Returns true for a statement that builds a response, and false for one that only checks whether a response
// is still valid.
const isBuild = (text: string): boolean => /from settings|from language_packs|consume_url|json_agg/.test(text)

/** Requests each response once and returns those that were rebuilt. */
async function rebuilt(): Promise<ResponseName[]> {
  const again: ResponseName[] = []
  for (const answer of answers) {
    gateway.service.statements.length = 0
    await ask[answer](gateway.service)
    if (gateway.service.statements.some(isBuild)) again.push(answer)
  }
  return again
}
const responsesOf = async (by: TestApp): Promise<Record<string, SentResponse>> => {
  const all: Record<string, SentResponse> = {}
  for (const answer of answers) all[answer] = await ask[answer](by)
  return all
}

const config: ResponseName[] = ['config', 'shared config']
const pilets: ResponseName[] = ['feed', 'shared feed', 'bundle']
const people: ResponseName[] = ['person', 'machine']
const sql = (text: string, ...values: unknown[]) => gateway.service.sql.query(text, values)

type Change = { what: string; by: () => Promise<unknown>; builds: ResponseName[] }
/**
 * Changes in the order in which they are applied. `builds` is derived from the content of the responses, not from the
 * code.
 */
const changes: Change[] = [
  {
    what: 'the content of a language pack',
    by: () => sql(`update language_packs set content = '[{"Key": "a", "Value": "c"}]'`),
    builds: ['pack'],
  },
  {
    what: 'a new language pack',
    by: () =>
      sql(
        `insert into language_packs (id, project_id, name) values (gen_random_uuid(), $1, 'fr')`,
        gateway.project.id,
      ),
    builds: ['pack'],
  },
  {
    what: 'a new version of a pilet',
    by: () =>
      addPackages(gateway.service.sql, gateway.project.id, [{ name: '@acme/menu', version: '2.0.0' }]),
    builds: pilets,
  },
  {
    what: 'a pilet that is disabled',
    by: () => sql("update pilet_packages set enabled = false where version = '2.0.0'"),
    builds: pilets,
  },
  {
    what: 'the template of an endpoint',
    by: () =>
      sql(
        "update endpoints set transformation_template = '2 {{.Application.Name}}' where id = $1",
        endpoint.id,
      ),
    builds: ['target'],
  },
  {
    what: 'access to an endpoint that is switched off',
    by: () => sql('update machine_user2endpoints set enabled = false'),
    builds: ['target'],
  },
  {
    what: 'access to an endpoint that is switched on',
    by: () => sql('update machine_user2endpoints set enabled = true'),
    builds: ['target'],
  },
  {
    what: "a tenant's settings",
    by: () =>
      sql(
        `update settings set frontend_module_config = '{"DefaultTheme": "dark"}' where tenant_id = $1`,
        gateway.project.tenantId,
      ),
    builds: [...config, ...pilets],
  },
  {
    what: "a project's settings",
    by: () =>
      sql(
        `update settings set frontend_module_config = '{"DefaultLocale": "de"}'
         where project_id = $1 and tenant_id is null and application_id is null`,
        gateway.project.id,
      ),
    builds: [...config, ...pilets],
  },
  {
    what: 'a role in the tenant',
    by: () =>
      sql(
        `insert into user2tenants (id, project_id, tenant_id, user_id, role_name)
         values (gen_random_uuid(), $1, $2, $3, 'member')`,
        gateway.project.id,
        gateway.project.tenantId,
        person.id,
      ),
    builds: people,
  },
  {
    what: 'what a role permits',
    by: () => sql("update tenant_role_definitions set permissions = '{members}' where name = 'member'"),
    builds: people,
  },
  {
    what: 'a role in the project',
    by: () =>
      sql(
        `insert into user2projects (id, project_id, user_id, role) values (gen_random_uuid(), $1, $2, 'developer')`,
        gateway.project.id,
        person.id,
      ),
    builds: people,
  },
  { what: 'a role in the project that ends', by: () => sql('delete from user2projects'), builds: people },
  {
    what: 'a role in the application',
    by: () =>
      sql(
        `insert into user2applications (id, project_id, application_id, user_id, role)
         values (gen_random_uuid(), $1, $2, $3, 'normal')`,
        gateway.project.id,
        gateway.project.applicationId,
        person.id,
      ),
    builds: people,
  },
  {
    what: 'an administrator',
    by: () => sql("update users set role = 'administrator' where id = $1", person.id),
    builds: ['person'],
  },
  { what: 'the name of a tenant', by: () => sql("update tenants set name = 'renamed'"), builds: people },
  {
    what: 'the name of an application',
    by: () => sql("update applications set name = 'renamed'"),
    builds: answers,
  },
  { what: 'the name of a project', by: () => sql("update projects set name = 'renamed'"), builds: [] },
  {
    what: 'an application that is disabled for a tenant',
    by: () => sql('update tenant2applications set enabled = false'),
    builds: [...config, ...pilets, ...people],
  },
  {
    what: 'an application that is enabled for a tenant',
    by: () => sql('update tenant2applications set enabled = true'),
    builds: [...config, ...pilets, ...people],
  },
  {
    what: 'a machine user that is disabled',
    by: () => sql('update machine_users set enabled = false'),
    builds: [],
  },
  {
    what: 'a machine user that is enabled',
    by: () => sql('update machine_users set enabled = true'),
    builds: [],
  },
  {
    what: 'a tenant that is deleted',
    by: () => sql('delete from tenants where id = $1', gateway.project.tenantId),
    builds: [...config, ...pilets, ...people],
  },
  {
    what: 'an endpoint that is deleted',
    by: () => sql('delete from endpoints where id = $1', endpoint.id),
    builds: ['target'],
  },
  {
    what: 'a project that is deleted',
    by: () => sql('delete from projects where id = $1', gateway.project.id),
    // The machine user is deleted with the project, so the target is never looked up.
    builds: ['config', 'shared config', 'pack', ...pilets, 'person'],
  },
]

const inOrder = (some: readonly ResponseName[]): ResponseName[] =>
  answers.filter((answer) => some.includes(answer))
/**
 * Returns the responses that are rebuilt on every request. Some negative results are cached only while other data
 * exists.
 */
const alwaysRebuilt = async (): Promise<ResponseName[]> => (await rebuilt(), rebuilt())

describe('an answer that is kept', () => {
  test('is built from the tables of its area alone', async () => {
    const identity = new Set(['project_versions', 'users', 'personal_access_tokens', 'machine_users'])
    // Blob rows do not change while a package refers to them.
    identity.add('blobs')
    for (const answer of answers) {
      await sql("update applications set name = 'first'")
      gateway.service.statements.length = 0
      expect((await ask[answer](gateway.service))[0]).toBe(200)
      const built = gateway.service.statements.filter(isBuild)
      expect(built.length).toBeGreaterThan(0)
      const plans = await Promise.all(built.map((text) => planOf(gateway.service.database.url, text)))
      const read = new Set(plans.flat().flatMap((line) => /^ *Index Scan (\S+)/.exec(line)?.[1] ?? []))
      expect(read.size).toBeGreaterThan(0)
      const known = areas[areaOf[answer]] as readonly string[]
      expect({
        answer,
        others: [...read].filter((table) => !identity.has(table) && !known.includes(table)),
      }).toEqual({
        answer,
        others: [],
      })
    }
  })

  test('every table of an area marks its changes', async () => {
    const { rows } = await sql(
      `select tgrelid::regclass::text as name from pg_trigger where tgfoid = 'project_versions_note'::regproc
       and tgenabled = 'O' and tgattr = '' and tgqual is null and tgtype = 29`,
    )
    const marked = (rows as { name: string }[]).map(({ name }) => name).toSorted()
    expect(marked).toEqual([...new Set(Object.values(areas).flat())].toSorted())
  })

  for (const { what, by, builds } of changes)
    test(`is built again after ${what} if it depends on it, and says what is true now`, async () => {
      const always = await alwaysRebuilt()
      await by()
      expect(inOrder((await rebuilt()).filter((answer) => !always.includes(answer)))).toEqual(
        inOrder(builds.filter((answer) => !always.includes(answer))),
      )
      const cold = await startTestApp({ database: gateway.service.database })
      try {
        expect(await responsesOf(gateway.service)).toEqual(await responsesOf(cold))
      } finally {
        await cold.close()
      }
    })
})

describe('marks', () => {
  test('are made at the commit: changes of several tables, in any order, do not wait for each other', async () => {
    const { sql: pool, database } = gateway.service
    const projectId = crypto.randomUUID()
    await pool.query("insert into projects (id, name, slug) values ($1, 'x', 'marks')", [projectId])
    for (const n of [1, 2])
      for (const table of ['tenants', 'applications'])
        await pool.query(
          `insert into ${table} (id, project_id, name, slug) values (gen_random_uuid(), $1, 'x', 'n${n}')`,
          [projectId],
        )
    const [first, second] = [1, 2].map(() => new Client({ connectionString: database.url })) as [
      Client,
      Client,
    ]
    const change = (client: Client, table: string, slug: string) =>
      client.query(`update ${table} set name = 'y' where project_id = $1 and slug = $2`, [projectId, slug])
    for (const client of [first, second]) {
      await client.connect()
      await client.query("begin; set local lock_timeout = '5s'")
    }
    await change(first, 'tenants', 'n1')
    await change(second, 'applications', 'n2')
    await change(first, 'applications', 'n1')
    await change(second, 'tenants', 'n2')
    const ends = await Promise.all([first.query('commit'), second.query('commit')])
    expect(ends.map(({ command }) => command)).toEqual(['COMMIT', 'COMMIT'])
    await Promise.all([first.end(), second.end()])
  })

  test('are one per transaction, project and table, and never the same again', async () => {
    const projectId = crypto.randomUUID()
    const marks = async (): Promise<Record<string, string>> => {
      const { rows } = await sql('select versions from project_versions where project_id = $1', projectId)
      return (rows as { versions: Record<string, string> }[])[0]?.versions ?? {}
    }
    await sql("insert into projects (id, name, slug) values ($1, 'x', 'marked')", projectId)
    const before = await marks()
    expect(Object.keys(before)).toEqual(['settings'])
    const client = new Client({ connectionString: gateway.service.database.url })
    await client.connect()
    await client.query('begin')
    await client.query(
      `insert into tenants (id, project_id, name, slug)
       select gen_random_uuid(), $1, 'x', 'n' || n from generate_series(1, 100) n`,
      [projectId],
    )
    // The number of marks, and thus the work at commit, does not depend on the number of changed rows.
    expect((await client.query('select from project_version_moves')).rowCount).toBe(2)
    await client.query('commit')
    await client.end()
    const after = await marks()
    expect(Object.keys(after).toSorted()).toEqual(['settings', 'tenants'])
    expect(after['settings']).toBe(after['tenants'])
    expect(after['settings']).not.toBe(before['settings'])
    expect((await sql('select from project_version_moves')).rowCount).toBe(0)
  })
})
