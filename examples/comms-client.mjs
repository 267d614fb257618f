// Notifications and live data in a browser, or in Node 24: one file without dependencies, to be copied;
// docs/guides/frontends/show-notifications.md explains it. The inbox is the truth. The socket says when to look there, so a
// lost frame costs time, never data.
const [maxWaitMs, spreadMs] = [30_000, 300]
/** Access is gone, there are too many sockets, or we broke the protocol: coming back would not help. */
const isFinal = (code) => code >= 4500 && code < 4600
/** A random part of what the service asks for, so that all those it sent away do not return together; later of more. */
const backoff = (jitterMs, failures) =>
  Math.random() * Math.max(jitterMs, Math.min(maxWaitMs, 500 * 2 ** failures))

/**
 * `address` is where the proxy serves the comms routes of the application, such as `/comms`.
 * `onChange(state)` gets `{ notifications, unread, hasMore, connected, ended }` after every change. Notifications are
 * newest first; `ended` is null, or the close code after which the client does not come back (1000 after `close()`).
 * `onLive(topic, data)` gets live data, at most once. `fetch` and `WebSocket` are the platform's unless they are given.
 */
export function connectComms(address, { onChange, onLive, fetch = globalThis.fetch, ...given } = {}) {
  const base = new URL(`${address}/`, globalThis.location?.href)
  let state = { notifications: [], unread: false, hasMore: false, connected: false, ended: null }
  const change = (changes) => {
    state = { ...state, ...changes }
    onChange?.(state)
  }
  const ask = async (path, body) => {
    const headers = { 'content-type': 'application/json' }
    const post = body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) }
    const signal = AbortSignal.timeout(maxWaitMs)
    const response = await fetch(new URL(path, base).href, { ...post, signal })
    if (!response.ok) throw new Error(`${path} answered ${response.status}`)
    return response.json()
  }
  const inbox = openInbox(ask, () => state, change)
  const receive = (frame) => {
    if (frame.type === 'hello') {
      change({ connected: true, unread: frame.unread })
      void inbox.refresh()
    } else if (frame.type === 'notification') {
      change({ unread: true })
      // Many others got it too, and shall not all ask at the same instant.
      void inbox.refresh(Math.random() * spreadMs)
    } else if (frame.type === 'notification.read') inbox.apply('read', frame)
    else if (frame.type === 'notification.seen') inbox.apply('seen', frame)
    else if (frame.type === 'live') onLive?.(frame.topic, frame.data)
  }
  const lose = (code) => change({ connected: false, ended: isFinal(code) ? code : null })
  const socket = holdSocket(new URL('ws', base).href.replace(/^http/, 'ws'), { receive, lose, ...given })
  const mark = async (kind, chosen) => {
    const body = { ...chosen, connection_id: socket.connectionId() }
    const { updated } = await ask(`notifications/${kind}`, body)
    inbox.apply(kind, chosen)
    return updated
  }
  return {
    /** Marks at most 500 ids, or 'all'; resolves to how many that changed. */
    markRead: (ids) => mark('read', ids === 'all' ? { all: true } : { ids }),
    markSeen: (ids) => mark('seen', { ids }),
    loadMore: inbox.loadMore,
    close: () => {
      socket.close()
      change({ connected: false, ended: 1000 })
    },
  }
}

/** Holds a socket, and comes back when it is lost. */
function holdSocket(address, { receive, lose, WebSocket = globalThis.WebSocket }) {
  let [socket, timer, failures] = [null, null, 0]
  let hello = { ping_interval: 25, reconnect_jitter_ms: 1_000 }
  const drop = () => {
    clearTimeout(timer)
    const dropped = socket
    // Its end is not waited for, and what it says from here on is not listened to.
    socket = null
    dropped?.close()
  }
  const end = (code) => {
    drop()
    if (!isFinal(code)) timer = setTimeout(open, backoff(hello.reconnect_jitter_ms, failures++))
    lose(code)
  }
  const take = (frame) => {
    if (frame.type === 'hello') [hello, failures] = [frame, 0]
    clearTimeout(timer)
    timer = setTimeout(end, 2_000 * hello.ping_interval, 1006)
    if (frame.type === 'ping') socket.send('{"type":"pong"}')
    else receive(frame)
  }
  const open = () => {
    const opened = new WebSocket(address)
    socket = opened
    timer = setTimeout(end, maxWaitMs, 1006)
    opened.addEventListener('message', ({ data }) => socket === opened && take(JSON.parse(data)))
    opened.addEventListener('close', ({ code }) => socket === opened && end(code))
  }
  open()
  return { connectionId: () => hello.connection_id, close: drop }
}

/** The pages that are loaded. */
function openInbox(ask, state, change) {
  // The newest notification of the last first page, and where older ones follow.
  let [newest, cursor] = ['', null]
  let [isLoading, isStale] = [false, false]
  /** What was loaded before stays below a first page, unless so much is new that some is missing in between. */
  const show = ({ page, unread }) => {
    const oldest = page.notifications.at(-1)?.id ?? ''
    // Ids begin with their time, so they are ordered as the inbox is.
    const isJoined = page.has_more === true && oldest <= newest
    const older = isJoined ? state().notifications.filter(({ id }) => id < oldest) : []
    if (!isJoined) cursor = page.next_cursor
    newest = page.notifications[0]?.id ?? ''
    change({ notifications: [...page.notifications, ...older], hasMore: cursor !== null, unread })
  }
  const read = async () => {
    const page = await ask('notifications')
    const isUnread = page.notifications.some(({ read }) => read === false)
    return { page, unread: isUnread === true || (page.has_more === true && (await ask('unread')).unread) }
  }
  /** Reads the first page; again if something happened meanwhile, and until it succeeds. */
  const refresh = async (firstWaitMs = 0) => {
    isStale = true
    if (isLoading) return
    isLoading = true
    try {
      for (let [waitMs, failures] = [firstWaitMs, 0]; isStale && state().ended === null;) {
        await new Promise((resolve) => setTimeout(resolve, waitMs))
        isStale = false
        const found = await read().catch(() => null)
        if (found !== null && !isStale) show(found)
        isStale ||= found === null
        waitMs = found === null ? backoff(1_000, failures++) : 0
      }
    } finally {
      isLoading = false
    }
  }
  const apply = (kind, { ids, all }) => {
    const isMeant = ({ id }) => all === true || ids.includes(id) === true
    // What is read has been seen.
    const set = (one) =>
      isMeant(one) ? { ...one, seen: true, read: one.read === true || kind === 'read' } : one
    change({ notifications: state().notifications.map(set) })
    void refresh()
  }
  const loadMore = async () => {
    const from = cursor
    if (from === null) return
    const page = await ask(`notifications?cursor=${encodeURIComponent(from)}`)
    // Otherwise the list has begun anew meanwhile.
    if (cursor !== from) return
    cursor = page.next_cursor
    change({ notifications: [...state().notifications, ...page.notifications], hasMore: cursor !== null })
  }
  return { refresh, apply, loadMore }
}
