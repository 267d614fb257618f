// This test deletes a project with 100,000 pilet versions.
import { expect, test } from 'vitest'
import { useDeletions } from '../../../test/kit/project-deletion.ts'
import { seedProject } from '@manager/harness/seed.ts'

const { sql, deleteProject, referred } = useDeletions()

test('a project with a hundred thousand versions is deleted', async () => {
  const { id } = await seedProject(sql(), 'many')
  await sql().query(
    `with stored as (
       insert into blobs (sha256, size, store, unreferenced_since)
       select encode(sha256(('many ' || i)::bytea), 'hex'), 10, 'postgres', null from generate_series(1, 100000) i
       returning sha256)
     insert into pilet_packages (id, project_id, name, version, precedence, is_stable, content_type, size, hash, spec, enabled)
     select gen_random_uuid(), $1, 'p', '1.0.' || n, lpad(n::text, 20, '0'), true, 'text/javascript', 10, sha256, 'v2', true
     from (select sha256, row_number() over () as n from stored) rows`,
    [id],
  )
  await sql().query('analyze')
  const begin = performance.now()
  const { errors } = await deleteProject(id)
  process.stdout.write(`deleted in ${(performance.now() - begin).toFixed(0)} ms\n`)
  expect(errors).toEqual([])
  expect(await referred()).toBe(0)
})
