// The table of calls, and the states without rows.
import { type ReactNode, useMemo } from 'react'
import type { ListSearch } from '../../app/list-search.ts'
import { useNow } from '../../app/now.ts'
import { SteadyRegion } from '../../app/steady-rows.tsx'
import { EnvironmentBadge } from '../../kit/badge.tsx'
import { Button } from '../../kit/button.tsx'
import { type DataColumn, DataTable } from '../../kit/data-table.tsx'
import { shortenId } from '../../kit/short-id.ts'
import { FailureState, Skeleton, State } from '../../kit/state.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { Call } from './call.ts'
import { CallStatus, Duration, nameReason } from './call-texts.tsx'
import { isFiltered, noFilters } from './calls-query.ts'
import type { CallsRead } from './use-calls.ts'

/** The time. A narrow screen has few other columns, so the endpoint and the reason are shown below it. */
function Started({ call }: { call: Call }): ReactNode {
  const t = useText()
  const { precise, exact } = useFormat()
  const reason = nameReason(call, t)
  return (
    <div className="two-lines">
      <time className="mono" dateTime={call.timestamp} title={exact(call.timestamp)}>
        {precise(call.timestamp)}
      </time>
      <div className="call-narrow truncate">
        <bdi>{call.endpoint.name}</bdi>
        {reason !== null && (
          <>
            {' · '}
            <bdi>{reason}</bdi>
          </>
        )}
      </div>
    </div>
  )
}

const Caller = ({ call: { machineUser } }: { call: Call }): ReactNode => (
  <span className="call-caller">
    <span className="truncate">{machineUser.name}</span>
    <EnvironmentBadge name={machineUser.environment.name} isProtected={machineUser.environment.protected} />
  </span>
)

function useCallColumns(): readonly DataColumn<Call>[] {
  const t = useText()
  const now = useNow()
  return useMemo(
    (): readonly DataColumn<Call>[] => [
      {
        id: 'time',
        title: t('calls.time'),
        width: '2fr',
        // The milliseconds need this room.
        minWidth: 216,
        isRowHeader: true,
        priority: 1,
        render: (call) => <Started call={call} />,
      },
      {
        id: 'status',
        title: t('calls.status'),
        width: 112,
        minWidth: 104,
        priority: 1,
        render: (call) => <CallStatus call={call} now={now} />,
      },
      {
        id: 'duration',
        title: t('calls.duration'),
        align: 'end',
        width: 96,
        minWidth: 96,
        priority: 2,
        render: ({ durationMs }) => <Duration ms={durationMs} />,
      },
      {
        id: 'endpoint',
        title: t('calls.endpoint'),
        width: '2fr',
        minWidth: 128,
        priority: 2,
        render: ({ endpoint, method }) => (
          <span className="truncate" title={endpoint.name}>
            <span className="mono muted">{method}</span> <bdi>{endpoint.name}</bdi>
          </span>
        ),
      },
      {
        id: 'machineUser',
        title: t('calls.machineUser'),
        width: '2fr',
        minWidth: 160,
        priority: 3,
        render: (call) => <Caller call={call} />,
      },
      {
        id: 'why',
        title: t('calls.why'),
        width: '3fr',
        minWidth: 160,
        priority: 2,
        render: (call) => <Why text={nameReason(call, t)} />,
      },
      {
        id: 'requestId',
        title: t('calls.requestId'),
        width: 128,
        minWidth: 128,
        priority: 3,
        render: ({ requestId }) => (
          <code className="truncate muted" title={requestId ?? undefined}>
            {requestId === null ? '–' : shortenId(requestId)}
          </code>
        ),
      },
    ],
    [t, now],
  )
}

const Why = ({ text }: { text: string | null }): ReactNode =>
  text === null ? (
    <span className="muted">–</span>
  ) : (
    <span className="truncate" title={text}>
      {text}
    </span>
  )

type TableProps = { list: ListSearch; read: CallsRead }

export function CallsTable({ list, read }: TableProps): ReactNode {
  const t = useText()
  const { steady } = read
  return (
    <SteadyRegion steady={steady}>
      <DataTable
        label={t('section.calls')}
        columns={useCallColumns()}
        rows={steady.rows}
        goneIds={steady.gone}
        rowHeight={32}
        openId={list.open}
        onOpen={list.setOpen}
        placeholder={<Placeholder list={list} read={read} />}
      />
    </SteadyRegion>
  )
}

function Placeholder({ list, read }: TableProps): ReactNode {
  const t = useText()
  const { isRangeTooLong, isComplete, pages, failure, refetch } = read
  const newest = pages.page > 1 && <Button onPress={() => pages.goTo(1)}>{t('calls.toNewest')}</Button>
  const clear = isFiltered(list.search) && (
    <Button onPress={() => list.setFilter(noFilters)}>{t('app.clearFilters')}</Button>
  )
  if (isRangeTooLong) return <TooLong list={list} />
  if (failure !== null) return <FailureState failure={failure} onRetry={refetch} actions={newest} />
  if (isComplete === undefined) return <Skeleton rows={12} />
  if (!isComplete)
    return (
      <State
        icon="search"
        title={t('calls.noMatchYet')}
        actions={
          <>
            <Button variant="primary" onPress={() => pages.goTo(pages.page + 1)}>
              {t('calls.searchOlder')}
            </Button>
            {clear}
          </>
        }
      >
        {t('calls.noMatchYetHint')}
      </State>
    )
  if (pages.page > 1)
    return (
      <State icon="list" title={t('calls.noOlder')} actions={newest}>
        {t('calls.noOlderHint')}
      </State>
    )
  return isFiltered(list.search) ? (
    <State icon="search" title={t('calls.noMatch')} actions={clear}>
      {t('calls.noMatchHint')}
    </State>
  ) : (
    <State icon="esb" title={t('calls.empty')}>
      {t('calls.emptyHint')}
    </State>
  )
}

/** The API searches texts only in ranges of up to 24 hours. */
function TooLong({ list }: { list: ListSearch }): ReactNode {
  const t = useText()
  return (
    <State
      icon="clock"
      title={t('calls.rangeTooLong')}
      actions={
        <Button
          variant="primary"
          onPress={() => list.setFilter({ range: '24h', from: undefined, to: undefined })}
        >
          {t('calls.searchLastDay')}
        </Button>
      }
    >
      {t('calls.rangeTooLongHint')}
    </State>
  )
}
