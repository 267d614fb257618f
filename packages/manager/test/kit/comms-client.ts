// Runs examples/comms-client.mjs with a fake socket, a fake inbox and vitest's fake timers.
import { vi } from 'vitest'

type Notification = { id: string; title?: string | null; read: boolean; seen: boolean }
export type ClientState = {
  notifications: Notification[]
  unread: boolean
  hasMore: boolean
  connected: boolean
  ended: number | null
}
type CommsClient = {
  markRead: (ids: readonly string[] | 'all') => Promise<number>
  markSeen: (ids: readonly string[]) => Promise<number>
  loadMore: () => Promise<void>
  close: () => void
}
type Given = {
  onChange?: (state: ClientState) => void
  onLive?: (topic: string | null, data: unknown) => void
  fetch?: (address: string, init: RequestInit) => Promise<Response>
  WebSocket?: unknown
}
type Example = { connectComms: (address: string, given?: Given) => CommsClient }

export const clientFile = new URL('../../../../examples/comms-client.mjs', import.meta.url)
export const { connectComms } = (await import(clientFile.href)) as Example

type Frame = { type: string; [name: string]: unknown }

/** A socket whose remote end is the test. */
class FakeSocket extends EventTarget {
  readonly sent: unknown[] = []
  isClosed = false
  readonly address: string
  constructor(address: string) {
    super()
    this.address = address
  }
  send(text: string): void {
    this.sent.push(JSON.parse(text))
  }
  close(): void {
    this.isClosed = true
  }
  /** Delivers a frame as if the service had sent it. */
  frame(frame: Frame): void {
    this.dispatchEvent(Object.assign(new Event('message'), { data: JSON.stringify(frame) }))
  }
  /** Closes the socket, as the service or the network would. */
  end(code: number): void {
    this.dispatchEvent(Object.assign(new Event('close'), { code }))
  }
}

export const hello = (changes: object = {}): Frame => ({
  type: 'hello',
  connection_id: 'connection-1',
  server_time: '2026-01-01T00:00:00.000Z',
  ping_interval: 25,
  unread: false,
  reconnect_jitter_ms: 4_000,
  ...changes,
})

/** Returns an id that sorts by number, just as the ids of the service sort by time. */
export const idOf = (number: number): string => `01900000-0000-7000-8000-${String(number).padStart(12, '0')}`

/** A fake inbox with pages of three notifications. It records the requests it receives. */
class FakeInbox {
  rows: Notification[] = []
  asked: string[] = []
  posted: unknown[] = []
  /** While true, responses wait for `release`. */
  isHeld = false
  status = 200
  #waiting: (() => void)[] = []

  add(...numbers: number[]): void {
    const added = numbers.map((number) => ({
      id: idOf(number),
      title: `number ${number}`,
      read: false,
      seen: false,
    }))
    this.rows = [...added, ...this.rows].toSorted((a, b) => (a.id < b.id ? 1 : -1))
  }
  release(): void {
    this.isHeld = false
    for (const go of this.#waiting.splice(0)) go()
  }
  fetch = async (address: string, init: RequestInit): Promise<Response> => {
    const { pathname, searchParams } = new URL(address)
    this.asked.push(pathname)
    // The response is computed now, even if it is delivered later.
    const body = this.#answer(pathname, searchParams.get('cursor'), init)
    const { status } = this
    if (this.isHeld) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    return Response.json(body, { status })
  }
  #answer(pathname: string, cursor: string | null, init: RequestInit): unknown {
    if (init.method === 'POST') return this.#mark(pathname, JSON.parse(init.body as string) as object)
    if (pathname.endsWith('/unread')) return { unread: this.rows.some(({ read }) => !read) }
    const from = this.rows.filter(({ id }) => cursor === null || id < cursor)
    const notifications = from.slice(0, 3).map((row) => ({ ...row }))
    const hasMore = from.length > 3
    return { notifications, has_more: hasMore, next_cursor: hasMore ? notifications.at(-1)?.id : null }
  }
  #mark(pathname: string, body: { ids?: string[]; all?: true }): unknown {
    this.posted.push(body)
    const kind = pathname.endsWith('/read') ? 'read' : 'seen'
    const meant = this.rows.filter((row) => (body.all ?? body.ids?.includes(row.id)) === true && !row[kind])
    for (const row of meant) row[kind] = true
    return { updated: meant.length }
  }
}

/** Starts a client whose first socket is open. `socket()` returns the latest socket. */
export function startFakeClient() {
  const sockets: FakeSocket[] = []
  const inbox = new FakeInbox()
  const states: ClientState[] = []
  const live: unknown[] = []
  class WebSocket extends FakeSocket {
    constructor(address: string) {
      super(address)
      sockets.push(this)
    }
  }
  const client = connectComms('http://store.example/comms', {
    onChange: (state) => states.push(state),
    onLive: (topic, data) => live.push([topic, data]),
    fetch: inbox.fetch,
    WebSocket,
  })
  return {
    client,
    inbox,
    live,
    states,
    sockets,
    socket: () => sockets.at(-1) as FakeSocket,
    state: () => states.at(-1) as ClientState,
    /** Returns the numbers of the displayed notifications, from top to bottom. */
    shown: () => (states.at(-1)?.notifications ?? []).map(({ id }) => Number(id.slice(-12))),
    /** Runs all timers that are already due, without advancing the clock. */
    settle: () => vi.advanceTimersByTimeAsync(0),
  }
}
