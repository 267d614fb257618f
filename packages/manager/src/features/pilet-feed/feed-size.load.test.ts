// These tests cover feeds and bundles of a large installation. The cost depends on the frontend's modules,
// not on the number of packages or tenants.
import { Client } from 'pg'
import { beforeAll, expect, test } from 'vitest'
import { requestThroughProxy } from '../../../test/kit/cached-responses.ts'
import { addPackages, setLayer } from '../../../test/kit/pilet-rows.ts'
import { useProject } from '../../../test/kit/project.ts'
import { lookupSettings } from '../../platform/postgres/pools.ts'

const [names, versionsEach, tenants, modules] = [10_000, 10, 10_000, 500]

const { service, project } = useProject()
const listed = Array.from({ length: modules }, (_, n) => `@acme/p${n * 20}`)
beforeAll(async () => {
  const { sql } = service
  const [hash] = await addPackages(sql, project.id, [{ name: 'first', version: '1.0.0' }])
  // The versions are short, and their text order equals their precedence.
  await sql.query(
    `insert into pilet_packages (id, project_id, name, version, precedence, is_stable, content_type, size, hash, spec, enabled)
     select gen_random_uuid(), $1, '@acme/p' || n, '1.0.' || v, '0011001000' || '1' || v || '~', true, 'text/javascript',
       b.size, b.sha256, 'v2', true
     from blobs b, generate_series(0, $3 - 1) n, generate_series(0, $4 - 1) v where b.sha256 = $2`,
    [project.id, hash, names, versionsEach],
  )
  await sql.query(
    `insert into tenants (id, project_id, name, slug)
     select gen_random_uuid(), $1, 'tenant ' || n, 'tenant-' || n from generate_series(2, $2) n`,
    [project.id, tenants],
  )
  await sql.query(
    `insert into tenant2applications (id, project_id, tenant_id, application_id, enabled)
     select gen_random_uuid(), $1, id, $2, true from tenants where project_id = $1 on conflict do nothing`,
    [project.id, project.applicationId],
  )
  // Every tenant has its own modules, and each shared name is used by about a hundred tenants.
  await sql.query(
    `update settings set backend_module_config = jsonb_build_object('EnabledModules',
       jsonb_build_array('@acme/p' || (1 + 20 * (abs(hashtext(tenant_id::text)) % 100)), 'own-' || tenant_id))
     where project_id = $1 and tenant_id is not null`,
    [project.id],
  )
  await setLayer(sql, project, 'application', { modules: listed })
  await sql.query('vacuum analyze')
}, 300_000)

type Plan = {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: Plan[]
}
const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]
/** Returns the number of rows that a plan reads from a table, including filtered rows. */
const rowsOf = (nodes: Plan[], table: string): number =>
  nodes
    .filter((node) => node['Relation Name'] === table)
    .reduce(
      (sum, node) =>
        sum + node['Actual Loops'] * (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)),
      0,
    )

/** Explains a statement with the service's connection settings. */
async function explained(text: string, values: unknown[], options: string) {
  const client = new Client({ connectionString: service.database.url, options })
  await client.connect()
  const { rows } = await client.query(`explain (analyze, format json) ${text}`, values)
  await client.end()
  const [{ Plan: plan, 'Execution Time': ms }] = (
    rows[0] as Record<string, [{ Plan: Plan; 'Execution Time': number }]>
  )['QUERY PLAN'] as [{ Plan: Plan; 'Execution Time': number }]
  return { nodes: nodesOf(plan), ms }
}
const timed = async (path: string) => {
  service.statements.length = 0
  const from = performance.now()
  const { status, body } = await requestThroughProxy(service, path)
  return { status, body, ms: performance.now() - from, statements: [...service.statements] }
}

test('[pilet-feed.highest] a feed of 500 modules among 100,000 packages is one statement that reads as many rows', async () => {
  const first = await timed(`/pilet-feed/${project.applicationId}`)
  const { items } = JSON.parse(first.body) as { items: { name: string; version: string }[] }
  expect(items).toEqual(
    listed.toSorted().map((name) => expect.objectContaining({ name, version: `1.0.${versionsEach - 1}` })),
  )
  expect(first.statements).toHaveLength(1)
  const [text = ''] = first.statements
  const values = [[project.applicationId], [null]]
  const { nodes, ms } = await explained(text, values, lookupSettings)
  expect(nodes.filter((node) => /Seq Scan|Hash|Merge|Bitmap/.test(node['Node Type']))).toEqual([])
  expect(rowsOf(nodes, 'pilet_packages')).toBeLessThanOrEqual(modules)
  expect(rowsOf(nodes, 'settings')).toBeLessThanOrEqual(4)
  const warm = await timed(`/pilet-feed/${project.applicationId}`)
  process.stdout.write(
    `feed of ${modules} among ${names * versionsEach}: built in ${first.ms.toFixed(0)} ms (the statement ${ms.toFixed(1)} ms), warm ${warm.ms.toFixed(1)} ms\n`,
  )
})

test('[pilet-feed.bundle] among 10,000 tenants a bundle is decided about by index, whether a tenant loads it or none does', async () => {
  const { applicationId, id } = project
  const pathOf = (name: string): string =>
    `/pilet-bundle/${applicationId}/${id}/${encodeURIComponent(name)}/1.0.3`
  for (const [name, status, maxSettings] of [
    ['@acme/p0', 200, 2],
    // A hundred tenants list this package, and the statement stops at the first one.
    ['@acme/p21', 200, 400],
    ['@acme/p2', 404, 4],
  ] as const) {
    await service.sql.query("update applications set name = 'x' where id = $1", [applicationId])
    const answer = await timed(pathOf(name))
    expect([name, answer.status]).toEqual([name, status])
    const text = answer.statements.find((one) => one.includes('settings_modules')) ?? ''
    const { nodes, ms } = await explained(text, [[applicationId], [name], ['1.0.3']], '-c jit=off')
    // PostgreSQL scans tables with a single row sequentially.
    const whole = nodes
      .filter((node) => node['Node Type'] === 'Seq Scan')
      .map((node) => node['Relation Name'])
    for (const table of ['settings', 'pilet_packages', 'tenant2applications'])
      expect(whole).not.toContain(table)
    expect([name, rowsOf(nodes, 'settings') <= maxSettings]).toEqual([name, true])
    expect(rowsOf(nodes, 'pilet_packages')).toBeLessThanOrEqual(1)
    process.stdout.write(
      `bundle ${name} ${status}: ${answer.ms.toFixed(1)} ms (the statement ${ms.toFixed(2)} ms)\n`,
    )
  }
})
