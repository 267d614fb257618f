// Tests notifications from a backend to inboxes and sockets of the real service. sockets.test.ts simulates the
// close codes that the service does not send here.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../../manager/test/kit/app.ts'
import { generousLimits, seedTenantMember } from '../../manager/test/kit/comms.ts'
import { type SeededProject, seedMachineUser, seedProject } from '@manager/harness/seed.ts'
import { seatHeaders } from '../../manager/test/kit/sockets.ts'
import {
  type Connection,
  type NewNotification,
  type NotificationOptions,
  type OpenNotifications,
  type SocketState,
  connect,
  emit,
  isUnread,
  listNotifications,
  markRead,
  markSeen,
  openNotifications,
  publish,
} from '../src/index.ts'

let service: TestApp
let project: SeededProject
let backend: Connection
/** A user with an open page. */
let page: Connection
let userId: string
let inbox: { applicationId: string }
const opened: OpenNotifications[] = []

beforeAll(async () => {
  service = await startTestApp({ env: { ...generousLimits, SVC_COMMS_RECONNECT_JITTER: '0s' } })
  project = await seedProject(service.sql, 'shop')
  const { token } = await seedMachineUser(service.sql, project)
  backend = connect({ url: service.url, token })
  inbox = { applicationId: project.applicationId }
})
afterAll(() => service.close())
afterEach(() => {
  for (const one of opened.splice(0)) one.close()
})

const here = (): Pick<NewNotification, 'applicationId' | 'tenantId'> => ({
  applicationId: project.applicationId,
  tenantId: project.tenantId,
})
/** Adds a member to the tenant and opens their page. */
async function visit(): Promise<void> {
  userId = await seedTenantMember(service, project)
  page = connect({ url: service.url, headers: seatHeaders({ userId, tenantId: project.tenantId }) })
}
const openNodeSocket: NonNullable<NotificationOptions['openSocket']> = (url, headers) =>
  new WebSocket(url, { headers } as never)
/** Opens a socket and records everything it receives. */
function listen(options: Partial<NotificationOptions> = {}) {
  const [states, told]: [SocketState[], unknown[][]] = [[], []]
  const socket = openNotifications(page, {
    ...inbox,
    onState: (state) => states.push(state),
    onNotification: (one) => told.push(['notification', one]),
    onLive: (one) => told.push(['live', one]),
    onRead: (one) => told.push(['read', one]),
    onSeen: (one) => told.push(['seen', one]),
    ...options,
  } as NotificationOptions)
  opened.push(socket)
  const statuses = (): string[] => states.map(({ status }) => status)
  const reaches = async (status: SocketState['status'], times = 1): Promise<void> => {
    const count = (): number => statuses().filter((one) => one === status).length
    await expect.poll(count).toBeGreaterThanOrEqual(times)
  }
  return { socket, states, told, statuses, reaches }
}

describe('emit', () => {
  test('puts a notification into the inbox, with every field', async () => {
    await visit()
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString()
    const sent = {
      recipients: [userId],
      type: 'order.shipped',
      title: 'Order 17',
      body: 'is on its way',
      severity: 'success',
      link: '/orders/17',
      data: { order_id: 17 },
      expiresAt,
    } as const
    const { notificationId, recipientCount } = await emit(backend, { ...here(), ...sent })
    expect(recipientCount).toBe(1)
    const { recipients: _, ...kept } = sent
    const { notifications, nextCursor, hasMore } = await listNotifications(page, inbox)
    expect(notifications).toEqual([
      {
        ...kept,
        id: notificationId,
        createdAt: expect.any(String),
        read: false,
        readAt: null,
        seen: false,
        seenAt: null,
      },
    ])
    expect([nextCursor, hasMore]).toEqual([null, false])
  })

  test('twice by one key adds one notification; by keys of its own, two', async () => {
    await visit()
    const notification = { ...here(), recipients: [userId], title: 'once' }
    const first = await emit(backend, notification, { idempotencyKey: 'order-17' })
    const second = await emit(backend, notification, { idempotencyKey: 'order-17' })
    expect(second).toEqual(first)
    expect((await listNotifications(page, inbox)).notifications).toHaveLength(1)
    await emit(backend, notification)
    await emit(backend, notification)
    expect((await listNotifications(page, inbox)).notifications).toHaveLength(3)
    const other = emit(backend, { ...notification, title: 'other' }, { idempotencyKey: 'order-17' })
    await expect(other).rejects.toMatchObject({ status: 422, code: 'key_reused' })
  })

  test('whose answer is lost is sent again, by the same key, and adds one notification', async () => {
    await visit()
    let count = 0
    const losing = connect({
      url: service.url,
      token: backend.token as () => Promise<string>,
      fetch: async (...args) => {
        count += 1
        const response = await fetch(...args)
        if (count === 1) throw new TypeError('the answer is lost')
        return response
      },
    })
    const { recipientCount } = await emit(losing, { ...here(), recipients: [userId], title: 'once' })
    expect([count, recipientCount]).toEqual([2, 1])
    expect((await listNotifications(page, inbox)).notifications).toHaveLength(1)
  })
})

describe('the inbox', () => {
  test('comes in pages, and is marked', async () => {
    await visit()
    const ids: string[] = []
    for (const title of ['a', 'b', 'c'])
      ids.unshift((await emit(backend, { ...here(), recipients: [userId], title })).notificationId)
    expect(await isUnread(page, inbox)).toBe(true)
    const first = await listNotifications(page, inbox, { limit: 2 })
    expect([first.notifications.map(({ id }) => id), first.hasMore]).toEqual([ids.slice(0, 2), true])
    const second = await listNotifications(page, inbox, { limit: 2, cursor: first.nextCursor })
    expect([second.notifications.map(({ id }) => id), second.hasMore]).toEqual([ids.slice(2), false])
    expect(await markSeen(page, inbox, ids)).toBe(3)
    expect(await markRead(page, inbox, ids.slice(0, 1))).toBe(1)
    expect((await listNotifications(page, inbox, { unread: true })).notifications).toHaveLength(2)
    expect((await listNotifications(page, inbox, { type: 'none' })).notifications).toEqual([])
    expect(await markRead(page, inbox, 'all')).toBe(2)
    expect(await isUnread(page, inbox)).toBe(false)
  })

  test('is where a proxy has it, by its path', async () => {
    await visit()
    await emit(backend, { ...here(), recipients: [userId], title: 'a' })
    const path = `/api/proxy/comms/${project.applicationId}`
    expect((await listNotifications(page, { path })).notifications).toHaveLength(1)
  })
})

describe('a socket', () => {
  test('hears of notifications, live data and marks, but not of its own marks', async () => {
    await visit()
    const one = listen()
    const other = listen()
    await one.reaches('open')
    await other.reaches('open')
    expect(one.states).toEqual([
      { status: 'connecting' },
      { status: 'open', connectionId: one.socket.connectionId, unread: false },
    ])
    const { notificationId: id } = await emit(backend, { ...here(), recipients: [userId], title: 'a' })
    await expect.poll(() => one.told).toHaveLength(1)
    await publish(backend, { ...here(), topic: 'prices', data: { eur_usd: 2 } })
    await expect.poll(() => one.told).toHaveLength(2)
    await markSeen(page, inbox, [id], { connectionId: other.socket.connectionId })
    await markRead(page, inbox, 'all', { connectionId: other.socket.connectionId })
    await expect.poll(() => one.told).toHaveLength(4)
    const heard = [
      [
        'notification',
        { id, notificationType: null, title: 'a', severity: 'info', createdAt: expect.any(String) },
      ],
      ['live', { topic: 'prices', data: { eur_usd: 2 }, publishedAt: expect.any(String) }],
    ]
    expect(one.told).toEqual([...heard, ['seen', { ids: [id] }], ['read', { all: true }]])
    expect(other.told).toEqual(heard)
  })

  test('answers pings, and so stays open; one that does not is closed with 4002, and comes back', async () => {
    await visit()
    const pinging = await startTestApp({
      database: service.database,
      env: {
        SVC_COMMS_RECONNECT_JITTER: '0s',
        SVC_COMMS_PING_INTERVAL: '2s',
        SVC_COMMS_PONG_TIMEOUT: '1800ms',
      },
    })
    page = { ...page, url: pinging.url }
    const answering = listen()
    const silent = listen({
      openSocket: (url, headers) => {
        const socket = openNodeSocket(url, headers)
        socket.send = () => undefined
        return socket
      },
    })
    await answering.reaches('open')
    await silent.reaches('open', 2)
    expect(silent.states).toMatchObject([
      { status: 'connecting' },
      { status: 'open' },
      { status: 'waiting', code: 4002 },
      { status: 'connecting' },
      { status: 'open' },
    ])
    expect(answering.statuses()).toEqual(['connecting', 'open'])
    for (const one of opened.splice(0)) one.close()
    await pinging.close()
  })

  test('of somebody without access ends with 4500, and one that loses it too', async () => {
    await visit()
    const { states, reaches, socket } = listen()
    await reaches('open')
    await service.sql.query('delete from user2tenants where user_id = $1', [userId])
    await reaches('ended')
    expect(states.at(-1)).toEqual({ status: 'ended', code: 4500 })
    expect(socket.connectionId).toBeNull()
    const late = listen()
    await late.reaches('ended')
    expect(late.states).toEqual([{ status: 'connecting' }, { status: 'ended', code: 4500 }])
  })

  test('beyond the tenth ends with 4501', async () => {
    await visit()
    const ten = Array.from({ length: 10 }, () => listen())
    for (const one of ten) await one.reaches('open')
    const eleventh = listen()
    await eleventh.reaches('ended')
    expect(eleventh.states.at(-1)).toEqual({ status: 'ended', code: 4501 })
  })

  test('that sent something else ends with 4502', async () => {
    await visit()
    const { states, reaches } = listen({
      openSocket: (url, headers) => {
        const socket = openNodeSocket(url, headers)
        socket.addEventListener('open', () => socket.send('{"type":"hello"}'))
        return socket
      },
    })
    await reaches('ended')
    expect(states.at(-1)).toEqual({ status: 'ended', code: 4502 })
  })

  test('is closed by close, or by its signal, and says so once', async () => {
    await visit()
    const ending = new AbortController()
    const [closed, aborted] = [listen(), listen({ signal: ending.signal })]
    await closed.reaches('open')
    await aborted.reaches('open')
    closed.socket.close()
    closed.socket.close()
    ending.abort()
    for (const { states, socket } of [closed, aborted]) {
      expect(states.slice(2)).toEqual([{ status: 'ended', code: 1000 }])
      expect(socket.connectionId).toBeNull()
    }
  })
})

test('a stopping service closes sockets with 4000, which come back to the next one and read the inbox', async () => {
  await visit()
  const stopping = await startTestApp({
    database: service.database,
    env: { SVC_COMMS_RECONNECT_JITTER: '0s' },
  })
  const first = stopping.url.replace('http', 'ws')
  const { states, reaches } = listen({
    openSocket: (url, headers) => {
      // Forwards to the process that is currently running.
      const isFirst = states.length === 1
      return openNodeSocket(isFirst ? url.replace(/^ws:\/\/[^/]+/, first) : url, headers)
    },
  })
  await reaches('open')
  await emit(backend, { ...here(), recipients: [userId], title: 'meanwhile' })
  await stopping.close()
  await reaches('open', 2)
  expect(states.slice(2)).toEqual([
    { status: 'waiting', code: 4000 },
    { status: 'connecting' },
    { status: 'open', connectionId: expect.any(String), unread: true },
  ])
})
