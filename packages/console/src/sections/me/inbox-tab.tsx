// The notifications of the caller from all tenants and applications, newest first.
import { type ReactNode, useEffect, useEffectEvent, useRef } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { type GrowingRows, useGrowingRows } from '../../api/growing-rows.ts'
import { useChange, useRead } from '../../api/requests.ts'
import { ChangeFailure } from '../../app/change-failure.tsx'
import type { ListSearch } from '../../app/list-search.ts'
import { type NotificationItem, NotificationRow } from '../../app/notifications.tsx'
import { useSteadyInbox } from '../../app/steady-inbox.ts'
import { SteadyRegion } from '../../app/steady-rows.tsx'
import { useSystemMay } from '../../app/use-system-may.ts'
import { meInboxDocument, shellInboxDocument, shellMarkReadDocument } from '../../generated/documents.ts'
import { Button } from '../../kit/button.tsx'
import { recoverFocus } from '../../kit/return-focus.ts'
import { Note } from '../../kit/note.tsx'
import { FailureNote, FailureState, Skeleton, State } from '../../kit/state.tsx'
import { Segments } from '../../kit/tabs.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'

export function InboxTab({ list }: { list: ListSearch }): ReactNode {
  const t = useText()
  const isUnreadOnly = list.search['show'] === 'unread'
  const growing = useGrowingRows({
    document: meInboxDocument,
    variables: isUnreadOnly ? { unread: true } : {},
    select: (result) => result.myNotifications,
    maxPages: 1,
  })
  const { hasMore, isReadingMore, readMore, error, retry } = growing
  const isComplete = useNews(growing)
  const steady = useSteadyInbox(growing.rows, {
    key: isUnreadOnly ? 'unread' : 'all',
    isPlaceholder: growing.isPlaceholder,
    isWhole: !hasMore,
  })
  const rows = growing.rows === undefined ? undefined : steady.rows
  return (
    <div className="me-inbox">
      <Segments
        label={t('me.inboxShow')}
        items={(['all', 'unread'] as const).map((id) => ({ id, text: t(`me.inbox.${id}`) }))}
        selected={isUnreadOnly ? 'unread' : 'all'}
        onSelect={(id) => list.setFilter({ show: id === 'unread' ? id : undefined })}
      />
      {!isComplete && <Note tone="info">{t('me.inboxPartial')}</Note>}
      {rows === undefined && error === null && <Skeleton />}
      {rows === undefined && error !== null && (
        <FailureState failure={describeFailure(error)} onRetry={retry} />
      )}
      {rows?.length === 0 && <NoNotifications isUnreadOnly={isUnreadOnly} list={list} />}
      {rows !== undefined && rows.length > 0 && (
        <SteadyRegion steady={steady}>
          <Notifications rows={rows} />
        </SteadyRegion>
      )}
      {rows !== undefined && error !== null && (
        <FailureNote failure={describeFailure(error)} onRetry={retry} />
      )}
      {hasMore && (
        <div className="me-inbox-more">
          <Button isPending={isReadingMore} onPress={readMore}>
            {t('me.inboxMore')}
          </Button>
        </div>
      )}
    </div>
  )
}

/**
 * Reads the list again when a new notification arrives. Returns whether the inbox covers all tenants and applications.
 */
function useNews({ rows, refresh }: GrowingRows<NotificationItem>): boolean {
  // The bell shows the same result.
  const inbox = useRead(shellInboxDocument, {}, { isLive: true }).data?.myNotifications
  const newestId = inbox?.nodes[0]?.id
  const readIfNew = useEffectEvent((id: string) => {
    if (rows !== undefined && !rows.some((row) => row.id === id)) refresh()
  })
  useEffect(() => {
    if (newestId !== undefined) readIfNew(newestId)
  }, [newestId])
  return inbox?.isComplete ?? true
}

function Notifications({ rows }: { rows: readonly NotificationItem[] }): ReactNode {
  const t = useText()
  const listRef = useRef<HTMLUListElement>(null)
  const { mutate, error } = useChange(shellMarkReadDocument)
  // The button disappears with the mark, so the focus moves to a neighboring button, or to the list if no button is
  // left.
  const moveFocus = (): void => {
    const buttons = [...(listRef.current?.querySelectorAll<HTMLElement>('button') ?? [])]
    const index = buttons.findIndex((button) => button === document.activeElement)
    if (index !== -1) (buttons[index + 1] ?? buttons[index - 1] ?? listRef.current)?.focus()
  }
  const mark = (id: string): void => {
    moveFocus()
    mutate({ ids: [id] })
  }
  return (
    <>
      <ChangeFailure failure={error === null ? null : describeFailure(error, { isChange: true })} />
      <ul ref={listRef} className="me-notifications" tabIndex={-1} aria-label={t('app.inbox')}>
        {rows.map((item) => (
          <NotificationRow key={item.id} item={item} onRead={() => mark(item.id)} />
        ))}
      </ul>
    </>
  )
}

function NoNotifications({ isUnreadOnly, list }: { isUnreadOnly: boolean; list: ListSearch }): ReactNode {
  const t = useText()
  if (!isUnreadOnly)
    return (
      <State icon="bell" title={t('me.inboxEmpty')}>
        {t('me.inboxEmptyHint')}
      </State>
    )
  return (
    <State
      icon="ok"
      title={t('me.inboxAllRead')}
      actions={<Button onPress={() => list.setFilter({ show: undefined })}>{t('me.inboxShowAll')}</Button>}
    >
      {t('me.inboxAllReadHint')}
    </State>
  )
}

/** Marks every unread notification. A single request marks a bounded number of them. */
export function MarkAllButton(): ReactNode {
  const t = useText()
  const mayMark = useSystemMay('inbox.markRead')
  const unread = useRead(shellInboxDocument, {}).data?.myNotifications.nodes.length ?? 0
  const { mutate, isPending } = useChange(shellMarkReadDocument)
  // The button disappears with the last unread notification.
  useEffect(() => {
    if (unread === 0) recoverFocus()
  }, [unread])
  if (!mayMark || unread === 0) return null
  return (
    <Button
      icon="check"
      action="inbox.markRead"
      isPending={isPending}
      onPress={() =>
        mutate(
          { all: true },
          {
            onSuccess: ({ markMyNotificationsRead: { updated, isComplete } }) =>
              showToast(isComplete ? t('me.marked', updated) : t('me.markedPartly', updated)),
            onError: (error) => showToast(describeFailure(error).message, { tone: 'danger' }),
          },
        )
      }
    >
      {t('app.markAllRead')}
    </Button>
  )
}
