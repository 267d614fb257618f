// These tests cover projects whose packages have identical bytes.
import { expect, test } from 'vitest'
import { addPackages } from '../../../test/kit/pilet-rows.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedProject } from '@manager/harness/seed.ts'

const { service, admin } = useProject()
const packagesOf = (round: number) =>
  Array.from({ length: 400 }, (_, index) => ({
    name: `pilet-${index}`,
    version: '1.0.0',
    bytes: Buffer.from(`round ${round}, ${index}`),
  }))

test('can be deleted at the same time, in whatever order they have them', async () => {
  for (let round = 0; round < 3; round++) {
    const pair = [await seedProject(service.sql, `a${round}`), await seedProject(service.sql, `b${round}`)]
    const [packages, [first, second]] = [packagesOf(round), pair]
    await addPackages(service.sql, first!.id, packages)
    await addPackages(service.sql, second!.id, packages.toReversed())
    const answers = await Promise.all(
      pair.map(({ id }) => service.query(admin, 'mutation($id: ID!) { deleteProject(id: $id) }', { id })),
    )
    expect(answers.map(({ error }) => error)).toEqual([null, null])
  }
  const { rows } = await service.sql.query(
    'select count(*)::int, count(unreferenced_since)::int as unreferenced from blobs',
  )
  expect(rows).toEqual([{ count: 1_200, unreferenced: 1_200 }])
})
