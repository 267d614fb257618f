// This test deletes two projects with the same pilets concurrently.
import { expect, test } from 'vitest'
import { loadSize } from '@manager/harness/load-sizes.ts'
import { addPackages } from '../../../test/kit/pilet-rows.ts'
import { useDeletions } from '../../../test/kit/project-deletion.ts'
import { seedProject } from '@manager/harness/seed.ts'

const { sql, deleteProject, referred } = useDeletions()

test('two projects with the same bundles, stored in opposite order, are deleted at once', async () => {
  for (let round = 0; round < loadSize(2, 4); round++) {
    const a = await seedProject(sql(), `a-${round}`)
    const b = await seedProject(sql(), `b-${round}`)
    const packages = Array.from({ length: loadSize(300, 1_000) }, (_, index) => ({
      name: `p${index}`,
      version: '1.0.0',
      bytes: Buffer.from(`${round} ${index}`),
    }))
    await addPackages(sql(), a.id, packages)
    await addPackages(sql(), b.id, packages.toReversed())
    const answers = await Promise.all([deleteProject(a.id), deleteProject(b.id)])
    for (const { errors } of answers) expect(errors).toEqual([])
    expect(await referred()).toBe(0)
  }
})
