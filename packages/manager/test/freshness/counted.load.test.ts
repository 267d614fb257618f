// Counts the cost of a cached response with many concurrent requests, and with very many tenants: 1 million with
// LOAD_SIZE=full.
import { Agent } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addLanguagePack, useCountedResponses, isVersionRead } from '../kit/counted-statements.ts'
import { loadSize } from '@manager/harness/load-sizes.ts'
import { planOf } from '../kit/plans.ts'
import { useProject } from '../kit/project.ts'
import { seedProject } from '@manager/harness/seed.ts'

const agent = new Agent({ keepAlive: true, maxSockets: 1_000 })

const { service, admin, project } = useProject()
beforeAll(() => addLanguagePack(service, admin, project.id))
afterAll(async () => {
  agent.destroy()
})

const { paths, ask } = useCountedResponses(agent, () => ({ service, project }), 5_000)

/** Makes a change after which every response is rebuilt with the same content. */
const touch = async (): Promise<void> => {
  const rename = 'mutation($id: ID!) { updateApplication(id: $id, input: {name: "again"}) { id } }'
  expect((await service.query(admin, rename, { id: project.applicationId })).error).toBeNull()
}

describe('what a cached response costs', () => {
  test('1,000 first requests at once build it once', async () => {
    for (const path of paths()) {
      const { built, statements } = await ask(path, 1_000, touch)
      // A request for a language pack also reads the list of packs.
      const reads = path.startsWith('/language-packs') ? 2 : 1
      expect({ path, built }).toEqual({ path, built: reads })
      expect(statements.filter((text) => !isVersionRead(text))).toHaveLength(reads)
    }
  })

  test('64 warm requests at once share one or a few reads of the version, and nothing is built', async () => {
    for (const path of paths()) {
      await ask(path, 1)
      // On a busy machine, the 64 requests do not always arrive at the same time. The minimum of several tries is
      // their cost when they arrive together.
      let { built, statements } = await ask(path, 64)
      for (let tries = 0; tries < 4 && statements.length > 4; tries++)
        ({ built, statements } = await ask(path, 64))
      expect({ path, built }).toEqual({ path, built: 0 })
      expect(statements.every(isVersionRead)).toBe(true)
      expect(statements.length).toBeLessThanOrEqual(4)
    }
  })
})

/** Adds rows in a different project. If each table had only one row, all plans would cost the same. */
async function addNeighbors(): Promise<void> {
  const other = await seedProject(service.sql, 'neighbors')
  for (const table of ['applications', 'tenants'])
    await service.sql.query(
      `insert into ${table} (id, project_id, name, slug)
       select gen_random_uuid(), $1, 'x', 'n' || n from generate_series(1, 2000) n`,
      [other.id],
    )
  await service.sql.query(
    `insert into tenant2applications (id, project_id, tenant_id, application_id, enabled)
     select gen_random_uuid(), $1, t.id, a.id, true from tenants t, applications a
     where t.project_id = $1 and a.project_id = $1 and a.slug in ('n1', 'n2', 'n3')`,
    [other.id],
  )
  await service.sql.query(
    `insert into project_versions (project_id, versions)
     select gen_random_uuid(), '{}' from generate_series(1, 2000)`,
  )
  await service.sql.query('analyze')
}

/** Adds tenants with their settings and application rows. Sequential ids and disabled checks save several minutes. */
async function addManyTenants(): Promise<void> {
  const client = await service.sql.connect()
  const id = (first: number): string => `(${first} || lpad(to_hex(n), 31, '0'))::uuid`
  const many = `generate_series(1, ${loadSize(100_000, 1_000_000)}) n`
  await client.query('set session_replication_role = replica')
  await client.query(
    `insert into tenants (id, project_id, name, slug) select ${id(1)}, $1, 'x', 'm' || n from ${many}`,
    [project.id],
  )
  await client.query(
    `insert into settings (id, project_id, tenant_id) select ${id(2)}, $1, ${id(1)} from ${many}`,
    [project.id],
  )
  await client.query(
    `insert into tenant2applications (id, project_id, tenant_id, application_id, enabled)
     select ${id(3)}, $1, ${id(1)}, $2, true from ${many}`,
    [project.id, project.applicationId],
  )
  client.release(true)
  await service.sql.query('analyze')
}

describe('however many tenants there are', () => {
  test('the same statements with the same plans, lookups by index only', { timeout: 600_000 }, async () => {
    await addNeighbors()
    const costs = new Map<string, string[]>()
    const measure = async (path: string): Promise<string[]> => {
      await ask(path, 1)
      await touch()
      const statements = [...(await ask(path, 1)).statements, ...(await ask(path, 1)).statements]
      expect(statements.filter(isVersionRead)).toHaveLength(2)
      expect(statements.length).toBeGreaterThan(2)
      const plans = []
      for (const text of statements) plans.push(...(await planOf(service.database.url, text)))
      return plans
    }
    for (const path of paths()) costs.set(path, await measure(path))
    await addManyTenants()
    for (const [path, before] of costs) {
      const plan = await measure(path)
      expect(plan).toEqual(before)
      expect(plan.filter((line) => /Seq Scan|Hash|Merge|Bitmap/.test(line))).toEqual([])
      expect(plan.some((line) => line.includes('Index'))).toBe(true)
    }
  })
})
