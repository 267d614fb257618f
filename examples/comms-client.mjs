// A client for notifications and live data in a browser or in Node 24. Copy this file: it has no
// dependencies. docs/guides/frontends/show-notifications.md explains it. The inbox is authoritative. The
// socket only signals when to read the inbox, so a lost frame causes a delay but loses no data.
const [maxWaitMs, spreadMs] = [30_000, 300]
/**
 * Returns whether reconnecting would be useless: the user has no access or too many sockets, or the client violated
 * the protocol.
 */
const isFinal = (code) => code >= 4500 && code < 4600
/**
 * Returns a random delay, so that clients do not all reconnect at the same time. Repeated failures raise the maximum
 * delay.
 */
const computeBackoff = (jitterMs, failures) =>
  Math.random() * Math.max(jitterMs, Math.min(maxWaitMs, 500 * 2 ** failures))

/**
 * `address` is the path at which the proxy serves the comms routes of the application, such as `/comms`.
 * `onChange(state)` receives `{ notifications, unread, hasMore, connected, ended }` after every change. Notifications
 * are newest first. `ended` is null, or the close code after which the client stays closed (1000 after `close()`).
 * `onLive(topic, data)` receives live data, at most once. `fetch` and `WebSocket` default to those of the platform.
 */
export function connectComms(address, { onChange, onLive, fetch = globalThis.fetch, ...options } = {}) {
  const base = new URL(`${address}/`, globalThis.location?.href)
  let state = { notifications: [], unread: false, hasMore: false, connected: false, ended: null }
  const setState = (changes) => {
    state = { ...state, ...changes }
    onChange?.(state)
  }
  const sendRequest = async (path, body) => {
    const headers = { 'content-type': 'application/json' }
    const requestOptions = body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) }
    const signal = AbortSignal.timeout(maxWaitMs)
    const response = await fetch(new URL(path, base).href, { ...requestOptions, signal })
    if (!response.ok) throw new Error(`${path} returned ${response.status}`)
    return response.json()
  }
  const inbox = openInbox(sendRequest, () => state, setState)
  const receive = (frame) => {
    if (frame.type === 'hello') {
      setState({ connected: true, unread: frame.unread })
      void inbox.refresh()
    } else if (frame.type === 'notification') {
      setState({ unread: true })
      // Many clients receive the frame at the same time. A random delay spreads their requests.
      void inbox.refresh(Math.random() * spreadMs)
    } else if (frame.type === 'notification.read') inbox.apply('read', frame)
    else if (frame.type === 'notification.seen') inbox.apply('seen', frame)
    else if (frame.type === 'live') onLive?.(frame.topic, frame.data)
  }
  const onDisconnect = (code) => setState({ connected: false, ended: isFinal(code) ? code : null })
  const socket = maintainSocket(new URL('ws', base).href.replace(/^http/, 'ws'), {
    receive,
    onDisconnect,
    ...options,
  })
  const mark = async (kind, selection) => {
    const body = { ...selection, connection_id: socket.connectionId() }
    const { updated } = await sendRequest(`notifications/${kind}`, body)
    inbox.apply(kind, selection)
    return updated
  }
  return {
    /** Marks at most 500 ids, or 'all'. Resolves to the number of changed notifications. */
    markRead: (ids) => mark('read', ids === 'all' ? { all: true } : { ids }),
    markSeen: (ids) => mark('seen', { ids }),
    loadMore: inbox.loadMore,
    close: () => {
      socket.close()
      setState({ connected: false, ended: 1000 })
    },
  }
}

/** Keeps a socket open. Reconnects when the connection is lost. */
function maintainSocket(address, { receive, onDisconnect, WebSocket = globalThis.WebSocket }) {
  let [socket, timer, failures] = [null, null, 0]
  let hello = { ping_interval: 25, reconnect_jitter_ms: 1_000 }
  const drop = () => {
    clearTimeout(timer)
    const previousSocket = socket
    // Do not wait for the close event, and ignore later events of this socket.
    socket = null
    previousSocket?.close()
  }
  const disconnect = (code) => {
    drop()
    if (!isFinal(code)) timer = setTimeout(open, computeBackoff(hello.reconnect_jitter_ms, failures++))
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
    const newSocket = new WebSocket(address)
    socket = newSocket
    timer = setTimeout(disconnect, maxWaitMs, 1006)
    newSocket.addEventListener('message', ({ data }) => socket === newSocket && handleFrame(JSON.parse(data)))
    newSocket.addEventListener('close', ({ code }) => socket === newSocket && disconnect(code))
  }
  open()
  return { connectionId: () => hello.connection_id, close: drop }
}

/** Manages the loaded pages of the inbox. */
function openInbox(sendRequest, state, setState) {
  // The id of the newest loaded notification, and the cursor of the next older page.
  let [newestId, cursor] = ['', null]
  let [isLoading, isStale] = [false, false]
  /**
   * Shows a new first page. Keeps the older notifications below it, unless there is a gap between them and
   * the page.
   */
  const showFirstPage = ({ page, unread }) => {
    const oldestId = page.notifications.at(-1)?.id ?? ''
    // Ids start with their creation time, so they sort in the order of the inbox.
    const isContiguous = page.has_more === true && oldestId <= newestId
    const olderNotifications = isContiguous ? state().notifications.filter(({ id }) => id < oldestId) : []
    if (!isContiguous) cursor = page.next_cursor
    newestId = page.notifications[0]?.id ?? ''
    setState({
      notifications: [...page.notifications, ...olderNotifications],
      hasMore: cursor !== null,
      unread,
    })
  }
  const readFirstPage = async () => {
    const page = await sendRequest('notifications')
    const hasUnread = page.notifications.some(({ read }) => read === false)
    const isUnread = hasUnread === true || (page.has_more === true && (await sendRequest('unread')).unread)
    return { page, unread: isUnread }
  }
  /** Reads the first page until the read succeeds and no notification has changed during it. */
  const refresh = async (firstWaitMs = 0) => {
    isStale = true
    if (isLoading) return
    isLoading = true
    try {
      for (let [waitMs, failures] = [firstWaitMs, 0]; isStale && state().ended === null;) {
        await new Promise((resolve) => setTimeout(resolve, waitMs))
        isStale = false
        const result = await readFirstPage().catch(() => null)
        if (result !== null && !isStale) showFirstPage(result)
        isStale ||= result === null
        waitMs = result === null ? computeBackoff(1_000, failures++) : 0
      }
    } finally {
      isLoading = false
    }
  }
  const apply = (kind, { ids, all }) => {
    const isSelected = ({ id }) => all === true || ids.includes(id) === true
    // A notification that was read has also been seen.
    const applyMark = (notification) =>
      isSelected(notification)
        ? { ...notification, seen: true, read: notification.read === true || kind === 'read' }
        : notification
    setState({ notifications: state().notifications.map(applyMark) })
    void refresh()
  }
  const loadMore = async () => {
    const pageCursor = cursor
    if (pageCursor === null) return
    const page = await sendRequest(`notifications?cursor=${encodeURIComponent(pageCursor)}`)
    // This page is ignored, because the list was reloaded while the page was being fetched.
    if (cursor !== pageCursor) return
    cursor = page.next_cursor
    setState({ notifications: [...state().notifications, ...page.notifications], hasMore: cursor !== null })
  }
  return { refresh, apply, loadMore }
}
