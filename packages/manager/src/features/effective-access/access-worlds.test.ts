// Compares effective access with the guard on random worlds. The nightly test compares more of them.
import { expect, test } from 'vitest'
import { compareWorld } from '../../../test/kit/access-comparison.ts'
import { createAccessWorld } from '../../../test/kit/access-worlds.ts'
import { useProject } from '../../../test/kit/project.ts'
import { runAccessWorlds } from '../../../test/kit/run-access-worlds.ts'

const { service, admin } = useProject()

test('[effective-access.agrees] the access of people and objects agrees with the guard in 50 random worlds', async () => {
  const { checks, differences } = await runAccessWorlds(service, admin, { first: 1, count: 50 })
  process.stdout.write(`effective access checks=${checks} differences=${differences.length}\n`)
  expect(differences.slice(0, 10)).toEqual([])
  expect(checks).toBeGreaterThanOrEqual(2_000)
})

test('the comparison notices a role that changes between the list and the guard', async () => {
  const world = await createAccessWorld(service.sql, 1)
  const { differences } = await compareWorld(service, admin, world, () =>
    service.sql.query('delete from user2projects where project_id = any($1::uuid[])', [
      world.projects.map(({ id }) => id),
    ]),
  )
  expect(differences.length).toBeGreaterThan(0)
})
