// Projects with many pilets, and with the same ones, are deleted as any other.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Person, type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { loadSize } from '../../../test/kit/load-sizes.ts'
import { addPackages } from '../../../test/kit/pilet-rows.ts'
import { seedProject, seedUser } from '../../../test/kit/seed.ts'

let service: TestApp
let admin: Person
beforeAll(async () => {
  service = await startTestApp({ limits: 'production' })
  admin = await seedUser(service.sql, 'admin', 'administrator')
})
afterAll(() => service.close())

const deleteProject = (id: string) =>
  service.query(admin, 'mutation ($id: ID!) { deleteProject(id: $id) }', { id })
const referred = async (): Promise<number> => {
  const { rows } = await service.sql.query<{ n: number }>(
    'select count(*)::int as n from blobs where unreferenced_since is null',
  )
  return rows[0]?.n ?? -1
}

test('two projects with the same bundles, stored in opposite order, are deleted at once', async () => {
  for (let round = 0; round < loadSize(2, 4); round++) {
    const a = await seedProject(service.sql, `a-${round}`)
    const b = await seedProject(service.sql, `b-${round}`)
    const packages = Array.from({ length: 1_000 }, (_, index) => ({
      name: `p${index}`,
      version: '1.0.0',
      bytes: Buffer.from(`${round} ${index}`),
    }))
    await addPackages(service.sql, a.id, packages)
    await addPackages(service.sql, b.id, packages.toReversed())
    const answers = await Promise.all([deleteProject(a.id), deleteProject(b.id)])
    for (const { errors } of answers) expect(errors).toEqual([])
    expect(await referred()).toBe(0)
  }
})

test('a project with a hundred thousand versions is deleted', async () => {
  const { id } = await seedProject(service.sql, 'many')
  await service.sql.query(
    `with stored as (
       insert into blobs (sha256, size, store, unreferenced_since)
       select encode(sha256(('many ' || i)::bytea), 'hex'), 10, 'postgres', null from generate_series(1, 100000) i
       returning sha256)
     insert into pilet_packages (id, project_id, name, version, precedence, is_stable, content_type, size, hash, spec, enabled)
     select gen_random_uuid(), $1, 'p', '1.0.' || n, lpad(n::text, 20, '0'), true, 'text/javascript', 10, sha256, 'v2', true
     from (select sha256, row_number() over () as n from stored) rows`,
    [id],
  )
  await service.sql.query('analyze')
  const begin = performance.now()
  const { errors } = await deleteProject(id)
  process.stdout.write(`deleted in ${(performance.now() - begin).toFixed(0)} ms\n`)
  expect(errors).toEqual([])
  expect(await referred()).toBe(0)
})
