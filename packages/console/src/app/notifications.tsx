// Notifications, as the bell and the inbox show them.
import type { ReactNode } from 'react'
import type { ShellInboxResult } from '../generated/documents.ts'
import { IconButton } from '../kit/button.tsx'
import { Icon, type IconName, type Tone } from '../kit/icon.tsx'
import { Time } from '../kit/values.tsx'
import { useText } from '../texts/language.tsx'

export type NotificationItem = ShellInboxResult['myNotifications']['nodes'][number]

const severities: Readonly<Record<string, readonly [IconName, Tone]>> = {
  success: ['ok', 'ok'],
  warning: ['warning', 'warn'],
  error: ['danger', 'danger'],
}

type SafeLink = {
  readonly address: string
  /** The host to which the link leads; null for the host of this page. */
  readonly host: string | null
}

/**
 * Returns a link that is safe to follow: a page of the console, or an https address. Other links are not shown. Other
 * paths on this host can perform an action or start a download, such as the path that ends the session.
 */
function toSafeLink(link: string | null): SafeLink | null {
  const url = link === null ? null : URL.parse(link, location.origin)
  if (url?.origin === location.origin)
    return url.pathname.startsWith('/console/')
      ? { address: `${url.pathname}${url.search}${url.hash}`, host: null }
      : null
  return url?.protocol === 'https:' ? { address: url.href, host: url.host } : null
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
            <a href={link.address} rel="noreferrer" target={link.host === null ? undefined : '_blank'}>
              {title}
            </a>
          )}
        </div>
        {item.title !== null && item.body !== null && <div className="notification-body">{item.body}</div>}
        {/* A backend writes the title, so the title does not tell where the link leads. */}
        {link !== null && link.host !== null && (
          <div className="notification-host">{t('app.linkTo', link.host)}</div>
        )}
        <div className="notification-note">
          <span className="truncate">
            <bdi>{item.application.name}</bdi> · <bdi>{item.tenant.name}</bdi>
          </span>
          <Time at={item.createdAt} />
        </div>
      </div>
      {!item.read && onRead !== null && (
        <IconButton
          icon="check"
          size="small"
          label={t('app.markRead')}
          action="inbox.markRead"
          onPress={onRead}
        />
      )}
    </li>
  )
}
