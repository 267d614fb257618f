// These tests cover the end-to-end delivery from a backend to users, with two processes that share a database and
// Redis.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { emit, generousLimits, targetFields, publish, seedTenantMember } from '../../../test/kit/comms.ts'
import { inboxCalls } from '../../../test/kit/inbox.ts'
import { seedMachineUser } from '@manager/harness/seed.ts'
import { useProject } from '../../../test/kit/project.ts'
import { type Seat, type TestSocket, openSocket } from '../../../test/kit/sockets.ts'

const { service, project } = useProject({ env: generousLimits })
let second: TestApp
let token: string
let seat: Seat
beforeAll(async () => {
  second = await startTestApp({ database: service.database, env: generousLimits })
  token = (await seedMachineUser(service.sql, project)).token
  const userId = await seedTenantMember(service, project)
  seat = { userId, tenantId: project.tenantId, applicationId: project.applicationId }
})
afterAll(() => second.close())

const open = async ({ url }: TestApp): Promise<TestSocket> => {
  const socket = openSocket(url, seat)
  await socket.hello
  return socket
}
const close = async (...sockets: TestSocket[]): Promise<void> => {
  for (const { client } of sockets) client.close()
  await Promise.all(sockets.map(({ closed }) => closed))
}
const dataOf = (socket: TestSocket): unknown[] =>
  socket.frames.filter(({ type }) => type === 'live').map(({ data }) => data)

test('a published hint reaches each socket of both processes once, and no socket that opens later [comms.publish-at-most-once]', async () => {
  const sockets = [await open(service), await open(second)]
  for (const [n, to] of [service, second, service, second].entries())
    expect((await publish(to, token, { ...targetFields(project), topic: 'n', data: n })).status).toBe(202)
  for (const socket of sockets) await expect.poll(() => dataOf(socket).length).toBe(4)
  const late = [await open(service), await open(second)]
  await publish(service, token, { ...targetFields(project), topic: 'n', data: 'last' })
  for (const socket of [...sockets, ...late]) await expect.poll(() => dataOf(socket)).toContain('last')
  for (const socket of sockets) expect(new Set(dataOf(socket))).toEqual(new Set([0, 1, 2, 3, 'last']))
  for (const socket of late) expect(dataOf(socket)).toEqual(['last'])
  const { rows } = await service.sql.query('select count(*)::int as kept from notifications')
  expect(rows).toEqual([{ kept: 0 }])
  await close(...sockets, ...late)
})

test('a notification is in the inbox when sockets hear of it, and read in one process is read in the other', async () => {
  const sockets = [await open(service), await open(second)]
  const { body } = await emit(service, token, { ...targetFields(project), title: 'Hello', type: 'a.b' })
  expect(body.recipient_count).toBe(1)
  const kinds = (socket: TestSocket) =>
    socket
      .framesWithoutPings()
      .slice(1)
      .map(({ type }) => type)
  for (const socket of sockets) await expect.poll(() => kinds(socket)).toEqual(['notification'])
  const calls = inboxCalls(() => second)
  const page = await calls.list(seat, { id: seat.userId })
  expect(page.body.notifications.map(({ id, read }) => [id, read])).toEqual([[body.notification_id, false]])
  const marked = await calls.read(seat, { id: seat.userId }, { ids: [body.notification_id] })
  expect(marked.body).toEqual({ updated: 1 })
  for (const socket of sockets)
    await expect.poll(() => kinds(socket)).toEqual(['notification', 'notification.read'])
  expect((await inboxCalls(() => service).unread(seat, { id: seat.userId })).body).toEqual({ unread: false })
  await close(...sockets)
})
