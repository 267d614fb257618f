// The bell shows a dot for unread notifications and opens the inbox. The dot and the inbox stay current while
// the page is open. The inbox is authoritative; the socket only signals when to read the inbox.
import {
  isUnread,
  listNotifications,
  markRead,
  markSeen,
  openNotifications,
} from '../../packages/client/src/index.ts'

const getElement = (id) => document.getElementById(id)
const [spreadMs, retryMs] = [300, 5_000]

/**
 * Shows the inbox of the signed-in user. `onInbox` receives the newest notifications after every change. `onEnd` is called
 * when the server has closed the socket for good, for example because the user has lost the application.
 */
export function showBell(manager, applicationId, { texts: { text, locale }, onInbox, onEnd }) {
  const inbox = { applicationId }
  let notifications = []
  let timer = null

  const show = (unread) => {
    getElement('bell').classList.toggle('unread', unread)
    getElement('bell').ariaLabel = text(unread === true ? 'bell.unread' : 'bell.title')
    getElement('inbox').ariaLabel = text('bell.title')
    getElement('all').hidden = unread === false
    getElement('none').hidden = notifications.length > 0
    announce(unread === true ? text('bell.new') : '')
    showRows(getElement('list'), notifications, { locale, open })
  }
  /** Reads the inbox. Retries after a delay if the request fails. */
  const refresh = async () => {
    clearTimeout(timer)
    try {
      const [page, unread] = await Promise.all([listNotifications(manager, inbox), isUnread(manager, inbox)])
      notifications = page.notifications
      show(unread)
      onInbox(notifications)
    } catch {
      timer = setTimeout(refresh, retryMs)
    }
  }
  /** Many users receive the same notification at the same time. A random delay spreads the requests of their pages. */
  const refreshSoon = () => {
    clearTimeout(timer)
    timer = setTimeout(refresh, Math.random() * spreadMs)
  }
  const mark = async (change) => {
    await change.catch(() => undefined)
    await refresh()
  }
  const open = async ({ id, link }) => {
    await mark(markRead(manager, inbox, [id], { connectionId: socket.connectionId }))
    if (link !== null) location.assign(link)
  }

  getElement('all').addEventListener('click', () => {
    void mark(markRead(manager, inbox, 'all', { connectionId: socket.connectionId }))
  })
  getElement('inbox').addEventListener('toggle', () => {
    const ids = notifications.filter(({ seen }) => seen === false).map(({ id }) => id)
    if (ids.length > 0) void mark(markSeen(manager, inbox, ids, { connectionId: socket.connectionId }))
  })
  const socket = openNotifications(manager, {
    ...inbox,
    onNotification: refreshSoon,
    onRead: refreshSoon,
    onSeen: refreshSoon,
    onState: ({ status }) => {
      // Notifications that arrived while no socket was open are in the inbox.
      if (status === 'open') void refresh()
      else announce(text(status === 'ended' ? 'bell.ended' : 'bell.connecting'))
      if (status === 'ended') void onEnd()
    },
  })
}

/** Writes a status message. Screen readers announce each change. */
function announce(words) {
  if (getElement('note').textContent !== words) getElement('note').textContent = words
}

const rows = new Map()

/** Updates the list. Existing rows are not moved, because a moved row loses the focus. */
function showRows(list, notifications, { locale, open }) {
  for (const [index, notification] of notifications.entries()) {
    const row = rows.get(notification.id) ?? createRow(notification, locale, open)
    rows.set(notification.id, row)
    row.className = notification.read === true ? notification.severity : `${notification.severity} unread`
    if (list.children[index] !== row) list.insertBefore(row, list.children[index] ?? null)
  }
  while (list.children.length > notifications.length) list.lastChild.remove()
  const currentIds = new Set(notifications.map(({ id }) => id))
  for (const id of rows.keys()) if (!currentIds.has(id)) rows.delete(id)
}

/** Creates an element. The content of a notification is inserted as text, never as HTML. */
const createElement = (name, words) => Object.assign(document.createElement(name), { textContent: words })

function createRow(notification, locale, open) {
  const title = createElement('button', notification.title ?? notification.type ?? '')
  title.type = 'button'
  title.addEventListener('click', () => open(notification))
  const row = createElement('li', '')
  row.append(
    title,
    createElement('span', notification.body ?? ''),
    createElement('small', new Date(notification.createdAt).toLocaleString(locale)),
  )
  return row
}
