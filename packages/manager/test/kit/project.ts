// What most test files begin with: a service, its administrator, and projects.
import { afterAll, beforeAll } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { type TestApp, type TestAppOptions, letGo, startTestApp } from './app.ts'
import { type SeededProject, seedMember, seedProject, seedUser } from '@manager/harness/seed.ts'

type Role = 'readonly' | 'tester' | 'developer' | 'maintainer' | 'owner'

/**
 * Starts a service before the tests of a file and closes it after them. What is answered is filled in before the first
 * test: an administrator, a project with its environments, tenant and application, `other` like it if it is asked for, and
 * ways to make people.
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
    letGo(service)
  })
  const person = (name: string): Promise<Person> => seedUser(service.sql, name)
  /** Somebody new with this role in the project. */
  const member = async (name: string, role: Role): Promise<Person> => {
    const added = await person(name)
    await seedMember(service.sql, added, role, { projectId: project.id })
    return added
  }
  return { service, admin, project, other, person, member }
}
