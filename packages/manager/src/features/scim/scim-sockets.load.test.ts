// Tests how fast open websockets of a deactivated person close.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { seedMember } from '@manager/harness/seed.ts'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { useProject } from '../../../test/kit/project.ts'
import { createScimClient, createScimToken, newUser } from '../../../test/kit/scim.ts'
import { openSocket } from '../../../test/kit/sockets.ts'

const { service, admin, project } = useProject()
let replica: TestApp
let token = ''
const scim = createScimClient(
  () => service,
  () => token,
)
beforeAll(async () => {
  replica = await startTestApp({ database: service.database })
  token = (await createScimToken(service, admin)).token
})
afterAll(() => replica.close())

async function provision(): Promise<Person> {
  const { body } = await scim.post(newUser())
  const person = { id: body.id as string }
  await seedMember(service.sql, person, 'member', { projectId: project.id, tenantId: project.tenantId })
  return person
}
const seatOf = ({ id }: Person) => ({
  userId: id,
  tenantId: project.tenantId,
  applicationId: project.applicationId,
})
const deactivate = (id: string) => scim.patch(id, [{ op: 'replace', path: 'active', value: false }])

describe('open websockets of a deactivated person', () => {
  test('[scim.sockets] open websockets of both processes close within 2 s', async () => {
    const [person, other] = [await provision(), await provision()]
    const sockets = [service, replica].map(({ url }) => openSocket(url, seatOf(person)))
    const stays = openSocket(service.url, seatOf(other))
    await Promise.all([...sockets, stays].map(({ hello }) => hello))
    const startedAt = performance.now()
    await deactivate(person.id)
    expect(await Promise.all(sockets.map(({ closed }) => closed))).toEqual([4500, 4500])
    expect(performance.now() - startedAt).toBeLessThan(2_000)
    expect(stays.client.readyState).toBe(1)
    stays.client.close()
  })

  test('[scim.sockets] the cooldown after an expensive check of the project does not delay the close', async () => {
    const person = await provision()
    const socket = openSocket(service.url, seatOf(person))
    await socket.hello
    // The project changes all the time.
    const noise = setInterval(
      () =>
        void service.sql.query('update user2tenants set updated_at = now() where project_id = $1', [
          project.id,
        ]),
      50,
    )
    await new Promise((resolve) => setTimeout(resolve, 2_500))
    const startedAt = performance.now()
    await deactivate(person.id)
    expect(await socket.closed).toBe(4500)
    expect(performance.now() - startedAt).toBeLessThan(2_000)
    clearInterval(noise)
  })
})
