// Notifications, as the bell and the inbox show them.
import type { ReactNode } from 'react'
import type { ShellInboxResult } from '../generated/documents.ts'
import { Icon, type IconName, type Tone } from '../kit/icon.tsx'
import { Time } from '../kit/values.tsx'
import { useText } from '../texts/language.tsx'

export type NotificationItem = ShellInboxResult['myNotifications']['nodes'][number]

const severities: Readonly<Record<string, readonly [IconName, Tone]>> = {
  success: ['ok', 'ok'],
  warning: ['warning', 'warn'],
  error: ['danger', 'danger'],
}

/** Returns a link that is safe to follow: a path of this host, or an https address. Other links are not shown. */
function toSafeLink(link: string | null): string | null {
  if (link === null) return null
  const url = URL.parse(link, location.origin)
  const isPath = link.startsWith('/') && url?.origin === location.origin
  return isPath || url?.protocol === 'https:' ? link : null
}

type NotificationRowProps = { item: NotificationItem; onRead: (() => void) | null }

export function NotificationRow({ item, onRead }: NotificationRowProps): ReactNode {
  const t = useText()
  const [icon, tone] = severities[item.severity] ?? ['info', 'info']
  const link = toSafeLink(item.link)
  const title = item.title ?? item.body ?? ''
  return (
    <li className="notification" data-unread={item.read ? undefined : ''}>
      <Icon name={icon} tone={tone} />
      <div className="notification-text">
        <div className="notification-title">
          {link === null ? (
            title
          ) : (
            <a href={link} rel="noreferrer" target={link.startsWith('/') ? undefined : '_blank'}>
              {title}
            </a>
          )}
        </div>
        {item.title !== null && item.body !== null && <div className="notification-body">{item.body}</div>}
        <div className="notification-note">
          <span className="truncate">
            {item.application.name} · {item.tenant.name}
          </span>
          <Time at={item.createdAt} />
        </div>
      </div>
      {!item.read && onRead !== null && (
        <button type="button" className="text-button" data-action="inbox.markRead" onClick={onRead}>
          {t('app.markRead')}
        </button>
      )}
    </li>
  )
}
