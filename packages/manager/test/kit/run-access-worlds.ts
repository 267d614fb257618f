// Runs the comparison of effective access with the guard on many random worlds.
import type { Person } from '@manager/harness/callers.ts'
import type { TestApp } from './app.ts'
import { addWorldGroups } from './access-groups.ts'
import { type Comparison, compareWorld } from './access-comparison.ts'
import { createAccessWorld, retireWorld } from './access-worlds.ts'

/** Compares the worlds with the seeds from `first` to `first` + `count` - 1. */
export async function runAccessWorlds(
  service: TestApp,
  admin: Person,
  { first, count }: { first: number; count: number },
): Promise<Comparison> {
  const total: Comparison = { checks: 0, differences: [] }
  for (let seed = first; seed < first + count; seed++) {
    const world = await createAccessWorld(service.sql, seed)
    await addWorldGroups(service, admin, world)
    const { checks, differences } = await compareWorld(service, admin, world)
    total.checks += checks
    total.differences.push(...differences)
    await retireWorld(service.sql, world)
  }
  return total
}
