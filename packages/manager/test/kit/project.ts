// Shared setup of most test files: a service, its administrator, and projects.
import { afterAll, beforeAll } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { type TestApp, type TestAppOptions, dropReferences, startTestApp } from './app.ts'
import { type SeededProject, seedMember, seedProject, seedUser } from '@manager/harness/seed.ts'

type Role = 'readonly' | 'tester' | 'developer' | 'maintainer' | 'owner'

/**
 * Starts a service before the tests of a file and closes it after them. The returned objects are filled before the
 * first test: an administrator, a project with its environments, tenant and application, and `other` if `withOther`
 * is set. `person` and `member` create users.
 */
export function useProject({
  slug = 'main',
  withOther = false,
  ...options
}: TestAppOptions & { slug?: string; withOther?: boolean } = {}) {
  const service = {} as TestApp
  const admin = {} as Person
  const [project, other] = [{} as SeededProject, {} as SeededProject]
  let close: TestApp['close']
  beforeAll(async () => {
    const started = await startTestApp(options)
    close = () => started.close()
    Object.assign(service, started)
    Object.assign(admin, await seedUser(service.sql, 'admin', 'administrator'))
    Object.assign(project, await seedProject(service.sql, slug))
    if (withOther) Object.assign(other, await seedProject(service.sql, 'other'))
  })
  afterAll(async () => {
    await close()
    dropReferences(service)
  })
  const person = (name: string): Promise<Person> => seedUser(service.sql, name)
  /** Creates a user with this role in the project. */
  const member = async (name: string, role: Role): Promise<Person> => {
    const added = await person(name)
    await seedMember(service.sql, added, role, { projectId: project.id })
    return added
  }
  return { service, admin, project, other, person, member }
}
