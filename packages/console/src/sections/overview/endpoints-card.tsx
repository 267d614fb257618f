// Endpoints whose calls failed in the time range, with the most failures first.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useReads } from '../../api/requests.ts'
import { useProject } from '../../app/project.tsx'
import { hasSection } from '../../app/sections.ts'
import { type OverviewFailedCallsResult, overviewFailedCallsDocument } from '../../generated/documents.ts'
import { Card } from '../../kit/card.tsx'
import { TwoLines } from '../../kit/data-table.tsx'
import { FailureNote, Skeleton } from '../../kit/state.tsx'
import { Sparkline } from '../../kit/sparkline.tsx'
import { Time } from '../../kit/values.tsx'
import { useText } from '../../texts/language.tsx'
import { useApplications } from './backends.ts'
import { type TimeRange, countByBar } from './time-range.ts'

type Call = OverviewFailedCallsResult['failed']['nodes'][number]
type EndpointRow = {
  readonly id: string
  readonly name: string
  readonly application: string
  readonly calls: readonly Call[]
  /** Whether more calls failed than the overview reads. */
  readonly isMore: boolean
}

const shownRows = 6
const pollMs = 60_000

export function EndpointsCard({ range }: { range: TimeRange }): ReactNode {
  const t = useText()
  const { slug } = useProject()
  const applications = useApplications()
  const nodes = applications.data?.applicationsConnection.nodes ?? []
  const reads = useReads(
    overviewFailedCallsDocument,
    nodes.map(({ id }) => ({ applicationId: id, from: range.from, to: range.to })),
    { refetchMs: pollMs },
  )
  const error = applications.error ?? reads.find((read) => read.error !== null)?.error ?? null
  const isLoading = applications.data === undefined || reads.some((read) => read.isPending)
  const rows = nodes
    .flatMap(({ name }, index) => createRows(name, reads[index]?.data))
    .toSorted((a, b) => b.calls.length - a.calls.length)
  return (
    <Card
      title={t('overview.endpoints')}
      link={hasSection('calls') && <Link to={`/p/${slug}/calls` as '/'}>{t('overview.callLog')}</Link>}
    >
      {error !== null && (
        <FailureNote
          failure={describeFailure(error)}
          onRetry={() =>
            void Promise.all([applications.refetch(), ...reads.map(async (read) => read.refetch())])
          }
        />
      )}
      {isLoading && error === null && <Skeleton rows={3} />}
      {!isLoading && error === null && rows.length === 0 && (
        <p className="card-note">{t('overview.noFailedCalls')}</p>
      )}
      {rows.length > 0 && (
        <table className="overview-table">
          <thead>
            <tr>
              <th scope="col">{t('overview.endpoint')}</th>
              <th scope="col" className="end">
                {t('overview.failed')}
              </th>
              <th scope="col" className="wide-only">
                {t('overview.overTime')}
              </th>
              <th scope="col">{t('overview.lastReason')}</th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, shownRows).map((row) => (
              <Row key={row.id} row={row} range={range} />
            ))}
          </tbody>
        </table>
      )}
    </Card>
  )
}

/** Groups the failed calls of an application by endpoint. A call can occur in both lists of the result. */
function createRows(application: string, data: OverviewFailedCallsResult | undefined): EndpointRow[] {
  if (data === undefined) return []
  const calls = new Map([...data.failed.nodes, ...data.serverErrors.nodes].map((call) => [call.id, call]))
  const isMore = data.failed.pageInfo.hasNextPage || data.serverErrors.pageInfo.hasNextPage
  const groups = Map.groupBy(calls.values(), ({ endpoint }) => endpoint.id)
  return [...groups].map(([id, list]) => ({
    id,
    name: list[0]?.endpoint.name ?? '',
    application,
    calls: list.toSorted((a, b) => b.timestamp.localeCompare(a.timestamp)),
    isMore,
  }))
}

function Row({ row, range }: { row: EndpointRow; range: TimeRange }): ReactNode {
  const t = useText()
  const { slug } = useProject()
  const [last] = row.calls
  const bars = countByBar(
    row.calls.map(({ timestamp }) => timestamp),
    range,
  )
  return (
    <tr>
      <th scope="row">
        <TwoLines
          first={
            hasSection('esb') ? (
              <Link to={`/p/${slug}/esb` as '/'} search={{ open: row.id } as never} className="row-link">
                {row.name}
              </Link>
            ) : (
              row.name
            )
          }
          second={<span className="change-text">{row.application}</span>}
        />
      </th>
      <td className="end numbers">
        {row.calls.length}
        {row.isMore && '+'}
      </td>
      <td className="wide-only">
        <Sparkline
          values={bars}
          size="small"
          label={t('overview.bars', row.name, bars.length, Math.max(...bars))}
        />
      </td>
      <td>
        {last !== undefined && (
          <TwoLines
            first={last.failure ?? t('overview.status', String(last.responseStatus ?? '–'))}
            second={
              <span className="change-text">
                <Time at={last.timestamp} />
              </span>
            }
          />
        )}
      </td>
    </tr>
  )
}
