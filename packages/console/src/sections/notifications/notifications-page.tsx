// The notifications that backends have sent to the users of the project's applications: how many were delivered, seen
// and read.
import { Link } from '@tanstack/react-router'
import { type ReactNode, useMemo } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { ListPager } from '../../app/list-pager.tsx'
import { type ListSearch, useListSearch } from '../../app/list-search.ts'
import { useNow } from '../../app/now.ts'
import { useCan, useProject } from '../../app/project.tsx'
import { useSearchText } from '../../app/use-search-text.ts'
import { applicationListDocument } from '../../generated/documents.ts'
import { Button } from '../../kit/button.tsx'
import { DataTable } from '../../kit/data-table.tsx'
import { SearchField } from '../../kit/form.tsx'
import { Icon } from '../../kit/icon.tsx'
import { Page } from '../../kit/page.tsx'
import { FailureNote, FailureState, Skeleton, State } from '../../kit/state.tsx'
import { Segments } from '../../kit/tabs.tsx'
import { useText } from '../../texts/language.tsx'
import { type DayRange, createDayRange, isRangeId, rangeIds } from './delivery.ts'
import { type ApplicationRow, useDeliveryColumns } from './delivery-columns.tsx'
import { DeliveryPanel } from './delivery-panel.tsx'
import { useDelivery } from './use-delivery.ts'

const noRows: readonly ApplicationRow[] = []

export function NotificationsPage(): ReactNode {
  const t = useText()
  return useCan('NOTIFICATION_STATS_READ') ? (
    <Delivery />
  ) : (
    <Page title={t('section.notifications')}>
      <State icon="lock" title={t('notifications.noAccess')}>
        {t('notifications.noAccessHint')}
      </State>
    </Page>
  )
}

/** Reads the page of applications that the address selects, and their counts. */
function useDeliveryList(list: ListSearch) {
  const { slug } = useProject()
  const { search, sort, page, size } = list
  const text = search['q'] ?? ''
  const chosen = search['range']
  const now = useNow()
  const rangeId = isRangeId(chosen) ? chosen : '7d'
  // The range changes once a day, so that the counts stay in the cache.
  const { to } = createDayRange(rangeId, now)
  const range = useMemo(() => createDayRange(rangeId, Date.parse(to) - 1), [rangeId, to])
  const read = useRead(
    applicationListDocument,
    {
      project: slug,
      filters: text === '' ? [] : [{ field: 'name', value: text }],
      order: [sort ?? { field: 'name', direction: 'ASC' as const }],
      pagination: { limit: size, offset: (page - 1) * size },
    },
    { keepsPrevious: true },
  )
  const result = read.data?.applicationsConnection
  const rows = result?.nodes ?? noRows
  const ids = useMemo(() => rows.map(({ id }) => id), [rows])
  return {
    result,
    rows,
    range,
    delivery: useDelivery(ids, range),
    error: read.error,
    refetch: () => void read.refetch(),
  }
}

function Delivery(): ReactNode {
  const t = useText()
  const list = useListSearch()
  const { result, rows, range, delivery, error, refetch } = useDeliveryList(list)
  return (
    <Page
      title={t('section.notifications')}
      isEdgeToEdge
      note={t('notifications.note')}
      actions={<Actions range={range} list={list} />}
      filters={<Search list={list} />}
      foot={result !== undefined && <ListPager list={list} result={result} />}
      panel={
        list.open !== null && (
          <DeliveryPanel
            key={list.open}
            id={list.open}
            ids={rows.map(({ id }) => id)}
            range={range}
            list={list}
          />
        )
      }
    >
      {delivery.error !== null && (
        <FailureNote failure={describeFailure(delivery.error)} onRetry={delivery.refetch} />
      )}
      <DataTable
        label={t('section.notifications')}
        columns={useDeliveryColumns(delivery.deliveries, range)}
        rows={rows}
        sort={list.sort}
        onSort={list.setSort}
        openId={list.open}
        onOpen={list.setOpen}
        placeholder={
          error !== null ? (
            <FailureState failure={describeFailure(error)} onRetry={refetch} />
          ) : result === undefined ? (
            <Skeleton rows={12} />
          ) : (
            <NoApplications list={list} />
          )
        }
      />
    </Page>
  )
}

function Actions({ range, list }: { range: DayRange; list: ListSearch }): ReactNode {
  const t = useText()
  return (
    <>
      <Segments
        label={t('notifications.range')}
        items={rangeIds.map((id) => ({ id, text: t(`notifications.range.${id}`) }))}
        selected={range.id}
        onSelect={(id) => list.setFilter({ range: id === '7d' ? undefined : id })}
      />
      <Link to="/me" search={{ tab: 'inbox' } as never} className="button">
        <Icon name="bell" />
        <span className="wide-text">{t('notifications.inbox')}</span>
      </Link>
    </>
  )
}

function Search({ list }: { list: ListSearch }): ReactNode {
  const t = useText()
  const [text, setText] = useSearchText(list)
  return <SearchField label={t('notifications.application')} value={text} onChange={setText} />
}

function NoApplications({ list }: { list: ListSearch }): ReactNode {
  const t = useText()
  if (list.search['q'] === undefined && list.page === 1)
    return (
      <State icon="bell" title={t('notifications.empty')}>
        {t('notifications.emptyHint')}
      </State>
    )
  return (
    <State
      icon="search"
      title={t('notifications.noMatch')}
      actions={<Button onPress={() => list.setFilter({ q: undefined })}>{t('app.clearFilters')}</Button>}
    >
      {t('notifications.noMatchHint')}
    </State>
  )
}
