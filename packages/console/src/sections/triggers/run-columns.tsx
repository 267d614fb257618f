import { type ReactNode, useMemo } from 'react'
import { EnvironmentBadge, Status } from '../../kit/badge.tsx'
import type { DataColumn } from '../../kit/data-table.tsx'
import { type Format, useFormat } from '../../texts/format.ts'
import { useLanguage, useText } from '../../texts/language.tsx'
import type { Translate } from '../../texts/texts.ts'
import { formatDuration, measureRun } from './run-duration.ts'
import { describeOutcome, describeReason } from './run-words.ts'
import type { Run } from './trigger-types.ts'

export function OutcomeStatus({ outcome }: { outcome: string }): ReactNode {
  const t = useText()
  const { kind, word } = describeOutcome(outcome, t)
  return <Status kind={kind}>{word}</Status>
}

const none = <span className="muted">–</span>

type Language = { t: Translate; locale: string; format: Format }

/** The columns that say which run it is, and how it ended. */
const createFirstColumns = ({ t, format: { exact, relative } }: Language): DataColumn<Run>[] => [
  {
    id: 'planned',
    title: t('triggers.plannedAt'),
    width: '3fr',
    minWidth: 152,
    isRowHeader: true,
    priority: 1,
    render: ({ scheduledAt }) => (
      <time className="truncate" dateTime={scheduledAt} title={relative(scheduledAt)}>
        {exact(scheduledAt)}
      </time>
    ),
  },
  {
    id: 'environment',
    title: t('triggers.environment'),
    width: 112,
    minWidth: 88,
    priority: 1,
    render: ({ environment }) => (
      <EnvironmentBadge name={environment.name} isProtected={environment.protected} />
    ),
  },
  {
    id: 'outcome',
    title: t('triggers.outcome'),
    width: '3fr',
    minWidth: 112,
    priority: 1,
    render: ({ outcome }) => <OutcomeStatus outcome={outcome} />,
  },
]

/** The columns about the attempts and the response. */
const createLastColumns = ({ t, locale, format: { number } }: Language): DataColumn<Run>[] => [
  {
    id: 'attempts',
    title: t('triggers.attempts'),
    align: 'end',
    width: 88,
    minWidth: 88,
    priority: 3,
    render: ({ attempts }) => number(attempts),
  },
  {
    id: 'response',
    title: t('triggers.response'),
    align: 'end',
    width: 96,
    minWidth: 96,
    priority: 2,
    render: ({ responseStatus }) =>
      responseStatus === null ? none : <span className="numbers">{String(responseStatus)}</span>,
  },
  {
    id: 'why',
    title: t('triggers.why'),
    width: '4fr',
    minWidth: 160,
    priority: 3,
    render: (run) => {
      const reason = describeReason(run, t)
      if (reason === null) return none
      return (
        <span className="truncate" title={reason}>
          {reason}
        </span>
      )
    },
  },
  {
    id: 'took',
    title: t('triggers.took'),
    align: 'end',
    width: 112,
    minWidth: 96,
    priority: 3,
    render: (run) => {
      const ms = measureRun(run)
      return ms === null ? none : <span className="numbers">{formatDuration(ms, locale)}</span>
    },
  },
]

export function useRunColumns(): readonly DataColumn<Run>[] {
  const t = useText()
  const { locale } = useLanguage()
  const format = useFormat()
  return useMemo(() => {
    const language = { t, locale, format }
    return [...createFirstColumns(language), ...createLastColumns(language)]
  }, [t, locale, format])
}
