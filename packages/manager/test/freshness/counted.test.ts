// Counts the cost of a cached response: it depends on the changes, not on the number of requests or rows.
import { Agent } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addLanguagePack, useCountedResponses, isVersionRead } from '../kit/counted-statements.ts'
import { useProject } from '../kit/project.ts'
import { seedProject } from '@manager/harness/seed.ts'

const agent = new Agent({ keepAlive: true, maxSockets: 1_000 })

const { service, admin, project } = useProject()
beforeAll(() => addLanguagePack(service, admin, project.id))
afterAll(async () => {
  agent.destroy()
})

const { paths, ask } = useCountedResponses(agent, () => ({ service, project }), 60_000)

describe('what a cached response costs', () => {
  test('one warm request costs one read of the version', async () => {
    for (const path of paths()) {
      await ask(path, 1)
      const { statements } = await ask(path, 1)
      expect(statements.filter(isVersionRead)).toHaveLength(1)
      expect(statements).toHaveLength(1)
    }
  })

  test('a change elsewhere builds nothing again', async () => {
    const other = await seedProject(service.sql, 'elsewhere')
    const [path = ''] = paths()
    await ask(path, 1)
    const rename = 'mutation($id: ID!) { updateApplication(id: $id, input: {name: "x"}) { id } }'
    expect((await service.query(admin, rename, { id: other.applicationId })).error).toBeNull()
    expect((await ask(path, 1)).built).toBe(0)
  })
})
