// Tests the prepared statements of Kysely handles: their number is limited, and connections replace outdated ones.
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { useProject } from '../../../test/kit/project.ts'
import { type Reads, withPreparedStatements } from './handles.ts'
import { createStatementNames } from './statement-names.ts'

// With one connection, every statement runs in the same session.
const { service, admin, project } = useProject({ env: { SVC_DATABASE_POOL_SIZE: '1' } })

const run = async <Row>(db: Reads, text: string): Promise<Row[]> =>
  (await sql.raw<Row>(text).execute(db)).rows
const countPrepared = async (): Promise<number> => {
  const [row] = await run<{ count: number }>(
    service.world.database.db.read,
    'select count(*)::int as count from pg_prepared_statements',
  )
  return row?.count ?? Number.NaN
}
const list = async (args = ''): Promise<unknown> => {
  const { data, error } = await service.query(
    admin,
    `{ tenants(projectSlug: "${project.slug}"${args}) { id name project { slug } } }`,
  )
  expect(error).toBeNull()
  return data.tenants
}

test('lookups and plain pages are prepared, pages with filters are not', async () => {
  await list()
  const count = await countPrepared()
  expect(count).toBeGreaterThan(0)
  await list()
  const fields = ['id', 'name', 'slug', 'deploymentMode']
  for (const field of fields) {
    const value = field === 'id' ? project.tenantId : 'x'
    for (const order of fields)
      await list(
        `, filters: [{field: "${field}", value: "${value}"}], order: [{field: "${order}"}, {field: "slug"}]`,
      )
  }
  expect(await countPrepared()).toBe(count)
})

test('10,000 different texts get at most 200 names, and keep them', () => {
  const nameStatement = createStatementNames()
  const nameAll = () => Array.from({ length: 10_000 }, (_, i) => nameStatement(`select ${i}`))
  const names = nameAll()
  expect(new Set(names.filter((name) => name !== undefined)).size).toBe(200)
  expect(nameAll()).toEqual(names)
})

test('the server keeps at most 200 prepared statements per connection', async () => {
  const db = withPreparedStatements(service.world.database.db.read)
  for (let i = 0; i < 1_000; i++) await run(db, `select ${i} as n`)
  expect(await run(db, 'select 1001 as n')).toEqual([{ n: 1_001 }])
  const count = await countPrepared()
  expect(count).toBeGreaterThan(100)
  expect(count).toBeLessThanOrEqual(200)
})

test('statements prepared before a migration work after it', async () => {
  const before = await list()
  await service.sql.query('alter table tenants alter column name type varchar(200)')
  await service.sql.query('alter table projects alter column slug type varchar(100)')
  expect(await list()).toEqual(before)
  await service.sql.query('alter table users alter column role type varchar(100)')
  expect(await list()).toEqual(before)
})

test('statements that the server has lost are prepared again', async () => {
  const before = await list()
  await run(service.world.database.db.read, 'deallocate all')
  expect(await list()).toEqual(before)
})

test('a transaction uses its own connection and prepares nothing', async () => {
  await service.world.database.db.transaction(async (tx) => {
    expect(withPreparedStatements(tx)).toBe(tx)
    expect(await run(withPreparedStatements(tx), 'select 1 as n')).toEqual([{ n: 1 }])
  })
})
