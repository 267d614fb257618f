// The caller's unread notifications, shown below the bell.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Heading } from 'react-aria-components'
import { describeFailure } from '../api/failures.ts'
import { useChange, useRead } from '../api/requests.ts'
import { shellInboxDocument, shellMarkReadDocument } from '../generated/documents.ts'
import { Button } from '../kit/button.tsx'
import { DialogPopup } from '../kit/dialog-popup.tsx'
import type { Popup } from '../kit/popup-button.tsx'
import { FailureNote, Skeleton } from '../kit/state.tsx'
import { useText } from '../texts/language.tsx'
import { NotificationRow } from './notifications.tsx'
import { useSteadyInbox } from './steady-inbox.ts'
import { SteadyRegion } from './steady-rows.tsx'

export const InboxPopup = ({ popup }: { popup: Popup }): ReactNode => (
  <DialogPopup
    popup={popup}
    label={null}
    placement="bottom end"
    className="popover inbox"
    dialogClassName="inbox-dialog"
  >
    <InboxList onClose={popup.close} />
  </DialogPopup>
)

function InboxList({ onClose }: { onClose: () => void }): ReactNode {
  const t = useText()
  const { data, error, refetch } = useRead(shellInboxDocument, {}, { isLive: true })
  const change = useChange(shellMarkReadDocument)
  const inbox = data?.myNotifications
  const steady = useSteadyInbox(inbox?.nodes, { key: 'popup', isWhole: inbox?.pageInfo.hasNextPage !== true })
  const items = inbox === undefined ? [] : steady.rows
  return (
    <>
      <div className="inbox-head">
        <Heading slot="title" className="inbox-title">
          {t('app.inbox')}
        </Heading>
        {items.length > 0 && (
          <Button
            size="small"
            variant="quiet"
            isPending={change.isPending}
            action="inbox.markRead"
            onPress={() => change.mutate({ all: true })}
          >
            {t('app.markAllRead')}
          </Button>
        )}
      </div>
      {error !== null && <FailureNote failure={describeFailure(error)} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton rows={3} />}
      {data !== undefined && items.length === 0 && <p className="menu-note">{t('app.inboxEmpty')}</p>}
      <SteadyRegion steady={steady}>
        <ul className="inbox-list">
          {items.map((item) => (
            <NotificationRow key={item.id} item={item} onRead={() => change.mutate({ ids: [item.id] })} />
          ))}
        </ul>
      </SteadyRegion>
      <Link to="/me" search={{ tab: 'inbox' } as never} className="inbox-all" onClick={onClose}>
        {t('app.inboxAll')}
      </Link>
    </>
  )
}
