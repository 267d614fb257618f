// A person with notifications in the inbox.
import type { Person } from '@manager/harness/callers.ts'
import { seedMember } from '@manager/harness/seed.ts'
import { seedNotifications } from '../../../manager/test/kit/inbox.ts'
import type { Scene } from './scene.ts'

/** Creates a member of the tenant with notifications from the oldest to the newest. */
export async function createReader(
  scene: Scene,
  name: string,
  titles: readonly string[],
  link?: string,
): Promise<Person> {
  const reader = await scene.person(name)
  await seedMember(scene.service.sql, reader, 'member', {
    projectId: scene.project.id,
    tenantId: scene.project.tenantId,
  })
  await seedNotifications(
    scene.service.sql,
    scene.project,
    [reader],
    titles.map((title, index) => ({
      title,
      at: new Date(Date.now() - (titles.length - index) * 60_000),
      ...(link === undefined ? {} : { link }),
    })),
  )
  return reader
}
