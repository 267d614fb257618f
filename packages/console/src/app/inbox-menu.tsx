// The bell in the top bar, with the number of the caller's unread notifications.
import type { ReactNode } from 'react'
import { useRead } from '../api/requests.ts'
import { shellInboxDocument } from '../generated/documents.ts'
import { Icon } from '../kit/icon.tsx'
import { loadOnDemand } from '../kit/on-demand.tsx'
import { PopupButton, usePopup } from '../kit/popup-button.tsx'
import { useText } from '../texts/language.tsx'

const pollMs = 60_000
const InboxPopup = loadOnDemand(async () => (await import('./inbox-popup.tsx')).InboxPopup)

export function InboxMenu(): ReactNode {
  const t = useText()
  const popup = usePopup()
  const { data } = useRead(shellInboxDocument, {}, { refetchMs: pollMs })
  const page = data?.myNotifications
  const count = page === undefined ? '' : `${page.nodes.length}${page.pageInfo.hasNextPage ? '+' : ''}`
  const hasUnread = page !== undefined && page.nodes.length > 0
  return (
    <>
      <PopupButton
        popup={popup}
        kind="dialog"
        className="button bell"
        isSquare
        label={hasUnread ? t('app.inboxUnread', count) : t('app.inbox')}
        onApproach={InboxPopup.preload}
      >
        <Icon name="bell" />
        {hasUnread && <span className="bell-count numbers">{count}</span>}
      </PopupButton>
      {popup.isOpen && <InboxPopup popup={popup} />}
    </>
  )
}
