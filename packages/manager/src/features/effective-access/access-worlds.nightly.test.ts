// Compares effective access with the guard on 1,000 random worlds.
import { expect, test } from 'vitest'
import { useProject } from '../../../test/kit/project.ts'
import { runAccessWorlds } from '../../../test/kit/run-access-worlds.ts'

// The test measures no speed: a busy machine must not make the service refuse requests.
const { service, admin } = useProject({ transport: { loopDelayMs: () => 0 } })

test('the access of people and objects agrees with the guard in 1,000 random worlds', async () => {
  const { checks, differences } = await runAccessWorlds(service, admin, { first: 1_000, count: 1_000 })
  process.stdout.write(`effective access checks=${checks} differences=${differences.length}\n`)
  expect(differences.slice(0, 10)).toEqual([])
  expect(checks).toBeGreaterThanOrEqual(40_000)
}, 3_600_000)
