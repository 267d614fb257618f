// The four numbers of the overview. Each is shown with its total and its value in the previous period.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { useCan, useProject } from '../../app/project.tsx'
import { hasSection } from '../../app/sections.ts'
import { overviewCallsDocument, overviewRunsDocument } from '../../generated/documents.ts'
import { Button } from '../../kit/button.tsx'
import { Icon } from '../../kit/icon.tsx'
import { Sparkline } from '../../kit/sparkline.tsx'
import { useFailureText } from '../../kit/state.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { Backends } from './backends.ts'
import { type SeriesSummary, type TimeRange, summarize } from './time-range.ts'
import type { Tokens } from './tokens.ts'

const failedCalls = new Set(['failed', 'rejected', 'server_error'])
const failedRuns = new Set(['failed', 'missed', 'skipped_no_backend'])
const pollMs = 60_000

type StatsProps = { range: TimeRange; backends: Backends; tokens: Tokens }

export function Stats({ range, backends, tokens }: StatsProps): ReactNode {
  const canCalls = useCan('ESB_AUDIT_READ')
  const canRuns = useCan('TRIGGER_READ')
  const canBackends = useCan('BACKEND_READ')
  return (
    <div className="stats">
      {canBackends && <BackendsStat backends={backends} />}
      {canCalls && <CallsStat range={range} />}
      {canRuns && <RunsStat range={range} />}
      <TokensStat tokens={tokens} />
    </div>
  )
}

type StatProps = {
  title: string
  /** A section to link to, or null if the number has no link. */
  section: string | null
  value: ReactNode
  chart?: ReactNode
  note: ReactNode
}

function Stat({ title, section, value, chart, note }: StatProps): ReactNode {
  const { slug } = useProject()
  const content = (
    <>
      <span className="stat-title">
        {title}
        {section !== null && <Icon name="chevronRight" />}
      </span>
      <span className="stat-row">
        <span className="stat-value numbers">{value}</span>
        {chart}
      </span>
      <span className="stat-note">{note}</span>
    </>
  )
  return section === null ? (
    <div className="stat">{content}</div>
  ) : (
    <Link to={`/p/${slug}/${section}` as '/'} className="stat">
      {content}
    </Link>
  )
}

const findSection = (path: string): string | null => (hasSection(path) ? path : null)

function BackendsStat({ backends }: { backends: Backends }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const title = t('overview.liveBackends')
  const rows = backends.rows
  if (rows === null || rows.some(({ cells }) => cells === null))
    return <EmptyStat title={title} error={backends.error} retry={backends.retry} />
  const cells = rows.flatMap((row) => row.cells ?? [])
  const live = cells.reduce((sum, cell) => sum + cell.live, 0)
  const total = cells.reduce((sum, cell) => sum + cell.total, 0)
  const affected = rows.filter((row) => row.cells?.some((cell) => cell.live < cell.total) ?? false).length
  return (
    <Stat
      title={title}
      section={findSection('deployments')}
      value={
        <>
          {number(live)} <span className="stat-of">{t('overview.of', number(total))}</span>
        </>
      }
      note={
        affected === 0 ? (
          t(total === 0 ? 'overview.noBackends' : 'overview.allLive')
        ) : (
          <>
            <Icon name="warning" size={12} tone="warn" /> {t('overview.affected', affected)}
          </>
        )
      }
    />
  )
}

function CallsStat({ range }: { range: TimeRange }): ReactNode {
  const t = useText()
  const { id } = useProject()
  const { data, error, refetch } = useRead(
    overviewCallsDocument,
    { projectId: id, from: range.before, to: range.to },
    { refetchMs: pollMs, keepsPrevious: true },
  )
  const title = t('overview.failedCalls')
  if (data === undefined) return <EmptyStat title={title} error={error} retry={() => void refetch()} />
  return (
    <SeriesStat
      title={title}
      section={findSection('calls')}
      summary={summarize(data.callSeries, range, (outcome) => failedCalls.has(outcome))}
    />
  )
}

function RunsStat({ range }: { range: TimeRange }): ReactNode {
  const t = useText()
  const { id } = useProject()
  const { data, error, refetch } = useRead(
    overviewRunsDocument,
    { projectId: id, from: range.before, to: range.to },
    { refetchMs: pollMs, keepsPrevious: true },
  )
  const title = t('overview.failedRuns')
  if (data === undefined) return <EmptyStat title={title} error={error} retry={() => void refetch()} />
  return (
    <SeriesStat
      title={title}
      section={findSection('triggers')}
      summary={summarize(data.runSeries, range, (outcome) => failedRuns.has(outcome))}
    />
  )
}

type SeriesProps = { title: string; section: string | null; summary: SeriesSummary }

function SeriesStat({ title, section, summary }: SeriesProps): ReactNode {
  const t = useText()
  const { number, percent } = useFormat()
  const { failed, total, failedBefore, bars } = summary
  return (
    <Stat
      title={title}
      section={section}
      value={number(failed)}
      chart={<Sparkline values={bars} label={t('overview.bars', title, bars.length, Math.max(...bars))} />}
      note={
        <>
          {total === 0
            ? t('overview.noneInRange')
            : t('overview.share', percent(failed / total), number(total))}
          <span className="wide-only"> · {t('overview.before', number(failedBefore))}</span>
        </>
      }
    />
  )
}

function TokensStat({ tokens }: { tokens: Tokens }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const canMachines = useCan('MACHINE_USER_READ')
  const title = t('overview.tokens')
  if (tokens.items === null) return <EmptyStat title={title} error={tokens.error} retry={tokens.retry} />
  return (
    <Stat
      title={title}
      section={canMachines ? 'machine-users' : null}
      value={number(tokens.expiring + tokens.old)}
      note={
        <>
          {t('overview.expiring', tokens.expiring)}
          <span className="wide-only"> · {t('overview.old', tokens.old)}</span>
        </>
      }
    />
  )
}

type EmptyStatProps = { title: string; error: Error | null; retry: () => void }

/** A number that is loading, or that could not be loaded. */
function EmptyStat({ title, error, retry }: EmptyStatProps): ReactNode {
  const t = useText()
  const describe = useFailureText()
  return (
    <div className="stat">
      <span className="stat-title">{title}</span>
      {error === null ? (
        <span className="skeleton-bar" role="status" aria-label={t('kit.loading')} />
      ) : (
        <>
          <span className="stat-note" role="alert">
            <Icon name="danger" size={12} tone="danger" /> {describe(describeFailure(error))}
          </span>
          <Button size="small" onPress={retry}>
            {t('kit.retry')}
          </Button>
        </>
      )}
    </div>
  )
}
