// Adds groups with rules to a random world, so that people have some roles directly and others from groups.
import { randomUUID } from 'node:crypto'
import type { Person } from '@manager/harness/callers.ts'
import { applicationRoles, projectRoles } from '../../src/policy/roles.ts'
import { type AccessWorld, createRandom, pick } from './access-worlds.ts'
import type { TestApp } from './app.ts'
import { createRule, seedGroup } from './groups.ts'

/** Adds up to two groups with random members and rules. */
export async function addWorldGroups(service: TestApp, admin: Person, world: AccessWorld): Promise<void> {
  const random = createRandom(world.seed + 2)
  for (let index = 0; index < Math.floor(random() * 3); index++) {
    const members = world.people.filter(() => random() < 0.5).map(({ id }) => id)
    const groupId = await seedGroup(service, `group ${index} ${randomUUID()}`, members)
    for (const { id, tenants, applications } of world.projects) {
      if (random() < 0.5)
        await createRule(service, admin, { groupId, projectId: id, role: pick(random, projectRoles) })
      for (const tenant of tenants.filter(() => random() < 0.4)) {
        const role = pick(random, Object.keys(tenant.roles))
        await createRule(service, admin, { groupId, tenantId: tenant.id, role })
      }
      for (const application of applications.filter(() => random() < 0.4))
        await createRule(service, admin, {
          groupId,
          applicationId: application.id,
          role: pick(random, applicationRoles),
        })
    }
  }
}
