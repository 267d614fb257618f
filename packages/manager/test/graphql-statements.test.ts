// Counts the statements of GraphQL queries, so that a test fails if a field reads an object twice.
import { beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { planOf } from './kit/plans.ts'
import { useProject } from './kit/project.ts'
import { seedMember } from '@manager/harness/seed.ts'

const { service, admin, project, member, person } = useProject()
let owner: Person
let tenantMember: Person
beforeAll(async () => {
  owner = await member('owner', 'owner')
  tenantMember = await person('tenant-member')
  const { id: projectId, tenantId } = project
  await seedMember(service.sql, tenantMember, 'member', { projectId, tenantId })
})

async function statementsOf(caller: Person, text: string): Promise<string[]> {
  // The first request opens connections.
  await service.query(caller, text)
  service.statements.length = 0
  expect((await service.query(caller, text)).error).toBeNull()
  return [...service.statements]
}

/**
 * The number of statements that look up the caller, the target of the policy and, unless the caller is an
 * administrator, the caller's roles in the project.
 */
const [caller, target, roles] = [1, 1, 1]
/** The statement that looks up the person whose access is read. */
const lookedUpPerson = 1
/** The statements that read the objects of all rows, and who granted the roles. */
const [users, projects, tenants, grants] = [1, 1, 1, 1]

const reads: [name: string, text: () => string, forAdmin: number, forOwner: number][] = [
  ['the caller', () => '{ me { id } }', caller, caller],
  ['projects', () => '{ projects { id name } }', caller + 1, caller + 1],
  [
    'a project',
    () => `{ project(slug: "${project.slug}") { id } }`,
    caller + target + 1,
    caller + target + roles + 1,
  ],
  [
    'tenants',
    () => `{ tenants(projectSlug: "${project.slug}") { id name slug } }`,
    caller + target + 1,
    caller + target + roles + 1,
  ],
  [
    'applications',
    () => `{ applications(projectSlug: "${project.slug}") { id name slug } }`,
    caller + target + 1,
    caller + target + roles + 1,
  ],
  [
    'a tenant',
    () => `{ tenant(projectId: "${project.id}", slug: "${project.tenantSlug}") { id } }`,
    caller + target + 1,
    caller + target + roles + 1,
  ],
  [
    'an application',
    () => `{ application(projectId: "${project.id}", slug: "${project.applicationSlug}") { id } }`,
    caller + target + 1,
    caller + target + roles + 1,
  ],
  [
    'environments',
    () => `{ environments(projectId: "${project.id}") { id name } }`,
    caller + target + 1,
    caller + target + roles + 1,
  ],
  [
    'endpoints',
    () => `{ endpoints(application: "${project.applicationId}") { id name } }`,
    caller + target + 1,
    caller + target + roles + 1,
  ],
  [
    'rows with their project',
    () => `{ tenants(projectSlug: "${project.slug}") { id project { slug } } }`,
    caller + target + 2,
    caller + target + roles + 2,
  ],
  [
    'a project with its lists',
    () =>
      `{ project(slug: "${project.slug}") { id myRole myPermissions environments { id } tenants { id project { id } } applications { id } } }`,
    caller + target + roles + 5,
    caller + target + roles + 5,
  ],
  [
    'the access of a person',
    () => `{ effectiveAccess(user: "${tenantMember.id}") { nodes { permissions reasons { role } } } }`,
    caller + lookedUpPerson + 1,
    caller + lookedUpPerson + 1 + roles,
  ],
  [
    'the people with access to a project',
    () => `{ whoCanReach(project: "${project.id}") { nodes { permissions reasons { role } } } }`,
    caller + target + 1,
    caller + target + roles + 1,
  ],
  [
    'the people with access to a project, with all objects and grants',
    () =>
      `{ whoCanReach(project: "${project.id}") { nodes {
         user { id } project { id } tenant { id } application { id } reasons { grantedAt grantedBy } } } }`,
    caller + target + 1 + users + projects + tenants + grants,
    caller + target + roles + 1 + users + projects + tenants + grants,
  ],
]

describe('the statements of a read', () => {
  test.each(reads)('%s', async (_name, text, forAdmin, forOwner) => {
    const counts = [(await statementsOf(admin, text())).length, (await statementsOf(owner, text())).length]
    expect(counts).toEqual([forAdmin, forOwner])
  })

  test('a field of each row reads the objects of its policy together', async () => {
    const text = `{ tenants(projectSlug: "${project.slug}") { id myRole myPermissions project { myRole } } }`
    const [rows, targetsOfRows, projects] = [1, 1, 1]
    expect(await statementsOf(tenantMember, text)).toHaveLength(
      caller + target + roles + rows + targetsOfRows + projects,
    )
  })

  test('concurrent requests share all statements except those for their rows', async () => {
    const [count, text] = [32, `{ tenants(projectSlug: "${project.slug}") { id } }`]
    let shared = Number.POSITIVE_INFINITY
    // On a busy machine, the requests do not always arrive together, so the minimum of several tries is used.
    for (let tries = 0; tries < 5 && shared > 12; tries++) {
      service.statements.length = 0
      await Promise.all(
        Array.from({ length: count }, (_, i) => service.query(i % 2 === 0 ? admin : owner, text)),
      )
      shared = service.statements.length - count
    }
    expect(shared).toBeLessThanOrEqual(12)
  })

  test('every shared lookup is planned as an index lookup', async () => {
    const lookups = new Set<string>()
    for (const [, text] of reads)
      for (const statement of await statementsOf(owner, text()))
        if (statement.includes('as wanted')) lookups.add(statement)
    for (const text of lookups) {
      if (!text.includes('position::int')) continue
      const plan = await planOf(service.database.url, text)
      expect(plan.filter((line) => line.includes('Scan') && !line.includes('Index Scan'))).toEqual([
        expect.stringContaining('Function Scan'),
      ])
    }
    // These include the lookups of the caller, of the caller's roles, and of the policy targets.
    expect(lookups.size).toBeGreaterThanOrEqual(5)
  })
})

test('a mutation reads the caller and the roles again before the next mutation', async () => {
  const text = `mutation($id: ID!) {
    one: updateTenant(id: $id, input: {name: "One"}) { name }
    two: updateTenant(id: $id, input: {name: "Two"}) { name }
  }`
  service.statements.length = 0
  expect((await service.query(owner, text, { id: project.tenantId })).error).toBeNull()
  const count = (part: string) => service.statements.filter((statement) => statement.includes(part)).length
  expect([count('user2applications a'), count('"projectId", id as "tenantId"')]).toEqual([2, 2])
})
