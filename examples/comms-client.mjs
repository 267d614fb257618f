// Notifications and live data in a browser, or in Node 24: one file without dependencies, to be copied.
// docs/guides/frontends/show-notifications.md explains it. The inbox is authoritative. The socket only tells when to
// read it, so a lost frame costs time, never data.
const [maxWaitMs, spreadMs] = [30_000, 300]
/** The user has no access or too many sockets, or the client violated the protocol: reconnecting would not help. */
const isFinal = (code) => code >= 4500 && code < 4600
/** Returns a random delay, so that clients do not all reconnect together. Repeated failures raise its limit. */
const backoff = (jitterMs, failures) =>
  Math.random() * Math.max(jitterMs, Math.min(maxWaitMs, 500 * 2 ** failures))

/**
 * `address` is the path at which the proxy serves the comms routes of the application, such as `/comms`.
 * `onChange(state)` receives `{ notifications, unread, hasMore, connected, ended }` after every change. Notifications
 * are newest first. `ended` is null, or the close code after which the client stays closed (1000 after `close()`).
 * `onLive(topic, data)` receives live data, at most once. `fetch` and `WebSocket` default to those of the platform.
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
    if (!response.ok) throw new Error(`${path} returned ${response.status}`)
    return response.json()
  }
  const inbox = openInbox(ask, () => state, change)
  const receive = (frame) => {
    if (frame.type === 'hello') {
      change({ connected: true, unread: frame.unread })
      void inbox.refresh()
    } else if (frame.type === 'notification') {
      change({ unread: true })
      // Many clients receive the frame at the same time, so spread their requests.
      void inbox.refresh(Math.random() * spreadMs)
    } else if (frame.type === 'notification.read') inbox.apply('read', frame)
    else if (frame.type === 'notification.seen') inbox.apply('seen', frame)
    else if (frame.type === 'live') onLive?.(frame.topic, frame.data)
  }
  const onDisconnect = (code) => change({ connected: false, ended: isFinal(code) ? code : null })
  const socket = maintainSocket(new URL('ws', base).href.replace(/^http/, 'ws'), {
    receive,
    onDisconnect,
    ...given,
  })
  const mark = async (kind, chosen) => {
    const body = { ...chosen, connection_id: socket.connectionId() }
    const { updated } = await ask(`notifications/${kind}`, body)
    inbox.apply(kind, chosen)
    return updated
  }
  return {
    /** Marks at most 500 ids, or 'all'. Resolves to the number of notifications that changed. */
    markRead: (ids) => mark('read', ids === 'all' ? { all: true } : { ids }),
    markSeen: (ids) => mark('seen', { ids }),
    loadMore: inbox.loadMore,
    close: () => {
      socket.close()
      change({ connected: false, ended: 1000 })
    },
  }
}

/** Keeps a socket open, and reconnects when it is lost. */
function maintainSocket(address, { receive, onDisconnect, WebSocket = globalThis.WebSocket }) {
  let [socket, timer, failures] = [null, null, 0]
  let hello = { ping_interval: 25, reconnect_jitter_ms: 1_000 }
  const drop = () => {
    clearTimeout(timer)
    const dropped = socket
    // Do not wait for the close, and ignore later events of this socket.
    socket = null
    dropped?.close()
  }
  const disconnect = (code) => {
    drop()
    if (!isFinal(code)) timer = setTimeout(open, backoff(hello.reconnect_jitter_ms, failures++))
    onDisconnect(code)
  }
  const handleFrame = (frame) => {
    if (frame.type === 'hello') [hello, failures] = [frame, 0]
    clearTimeout(timer)
    timer = setTimeout(disconnect, 2_000 * hello.ping_interval, 1006)
    if (frame.type === 'ping') socket.send('{"type":"pong"}')
    else receive(frame)
  }
  const open = () => {
    const opened = new WebSocket(address)
    socket = opened
    timer = setTimeout(disconnect, maxWaitMs, 1006)
    opened.addEventListener('message', ({ data }) => socket === opened && handleFrame(JSON.parse(data)))
    opened.addEventListener('close', ({ code }) => socket === opened && disconnect(code))
  }
  open()
  return { connectionId: () => hello.connection_id, close: drop }
}

/** Keeps the loaded pages of the inbox. */
function openInbox(ask, state, change) {
  // The newest notification of the last first page, and the cursor of the older ones.
  let [newest, cursor] = ['', null]
  let [isLoading, isStale] = [false, false]
  /** Older notifications stay below a first page, unless so many are new that some are missing. */
  const show = ({ page, unread }) => {
    const oldest = page.notifications.at(-1)?.id ?? ''
    // Ids start with their time, so they are in the order of the inbox.
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
  /** Reads the first page. Repeats this if something changed during the read, and until it succeeds. */
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
    // A notification that was read has also been seen.
    const set = (one) =>
      isMeant(one) ? { ...one, seen: true, read: one.read === true || kind === 'read' } : one
    change({ notifications: state().notifications.map(set) })
    void refresh()
  }
  const loadMore = async () => {
    const from = cursor
    if (from === null) return
    const page = await ask(`notifications?cursor=${encodeURIComponent(from)}`)
    // The list was reloaded while this page was fetched.
    if (cursor !== from) return
    cursor = page.next_cursor
    change({ notifications: [...state().notifications, ...page.notifications], hasMore: cursor !== null })
  }
  return { refresh, apply, loadMore }
}
