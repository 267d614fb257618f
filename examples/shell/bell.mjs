// The bell: a dot for unread notifications, and the inbox behind it. Both stay current while the page is open. The
// inbox is authoritative; the socket only tells when to read it.
import {
  isUnread,
  listNotifications,
  markRead,
  markSeen,
  openNotifications,
} from '../../packages/client/src/index.ts'

const part = (id) => document.getElementById(id)
const [spreadMs, retryMs] = [300, 5_000]

/** Shows the inbox of the signed-in user. `onInbox` receives the newest notifications after every change. */
export function showBell(manager, applicationId, { texts: { text, locale }, onInbox }) {
  const inbox = { applicationId }
  let notifications = []
  let timer = null

  const show = (unread) => {
    part('bell').classList.toggle('unread', unread)
    part('bell').ariaLabel = text(unread === true ? 'bell.unread' : 'bell.title')
    part('inbox').ariaLabel = text('bell.title')
    part('all').hidden = unread === false
    part('none').hidden = notifications.length > 0
    say(unread === true ? text('bell.new') : '')
    showRows(part('list'), notifications, { locale, open })
  }
  /** Reads the inbox, and retries after a delay if that fails. */
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
  /** Many users receive the same notification, so their pages spread their requests. */
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

  part('all').addEventListener('click', () => {
    void mark(markRead(manager, inbox, 'all', { connectionId: socket.connectionId }))
  })
  part('inbox').addEventListener('toggle', () => {
    const ids = notifications.filter(({ seen }) => seen === false).map(({ id }) => id)
    if (ids.length > 0) void mark(markSeen(manager, inbox, ids, { connectionId: socket.connectionId }))
  })
  const socket = openNotifications(manager, {
    ...inbox,
    onNotification: refreshSoon,
    onRead: refreshSoon,
    onSeen: refreshSoon,
    onState: ({ status }) => {
      // Notifications that arrived while there was no socket are in the inbox.
      if (status === 'open') void refresh()
      else say(text(status === 'ended' ? 'bell.ended' : 'bell.connecting'))
    },
  })
}

/** Screen readers read it out when it changes. */
function say(words) {
  if (part('note').textContent !== words) part('note').textContent = words
}

const rows = new Map()

/** Existing rows are not moved, so they keep the focus. */
function showRows(list, notifications, { locale, open }) {
  for (const [index, one] of notifications.entries()) {
    const row = rows.get(one.id) ?? makeRow(one, locale, open)
    rows.set(one.id, row)
    row.className = one.read === true ? one.severity : `${one.severity} unread`
    if (list.children[index] !== row) list.insertBefore(row, list.children[index] ?? null)
  }
  while (list.children.length > notifications.length) list.lastChild.remove()
  const kept = new Set(notifications.map(({ id }) => id))
  for (const id of rows.keys()) if (!kept.has(id)) rows.delete(id)
}

/** The content of a notification is text, and is never written as HTML. */
const make = (name, words) => Object.assign(document.createElement(name), { textContent: words })

function makeRow(one, locale, open) {
  const title = make('button', one.title ?? one.type ?? '')
  title.type = 'button'
  title.addEventListener('click', () => open(one))
  const row = make('li', '')
  row.append(
    title,
    make('span', one.body ?? ''),
    make('small', new Date(one.createdAt).toLocaleString(locale)),
  )
  return row
}
