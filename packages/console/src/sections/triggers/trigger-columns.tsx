import './triggers.css'
import { type ReactNode, useMemo } from 'react'
import { useEnvironment } from '../../app/environment.tsx'
import { useProject } from '../../app/project.tsx'
import { Status } from '../../kit/badge.tsx'
import { type DataColumn, TwoLines } from '../../kit/data-table.tsx'
import { CellSkeleton } from '../../kit/state.tsx'
import { Time } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useLanguage, useText } from '../../texts/language.tsx'
import type { Translate } from '../../texts/texts.ts'
import { describeCron } from './cron-words.ts'
import { RunMark } from './run-mark.tsx'
import { describeOutcome } from './run-words.ts'
import type { Run, TriggerRow } from './trigger-types.ts'
import { type TriggerStates, listNewestRuns } from './use-trigger-states.ts'

export function EnabledStatus({ isEnabled }: { isEnabled: boolean }): ReactNode {
  const t = useText()
  return (
    <Status kind={isEnabled ? 'ok' : 'off'}>
      {isEnabled ? t('triggers.enabled') : t('triggers.disabled')}
    </Status>
  )
}

type LastRunsProps = { runs: readonly Pick<Run, 'id' | 'scheduledAt' | 'outcome' | 'environment'>[] }

/** The newest run of each environment. */
function LastRuns({ runs }: LastRunsProps): ReactNode {
  const t = useText()
  const { relative } = useFormat()
  const { environments } = useProject()
  const environment = useEnvironment()
  const shown = listNewestRuns(runs, environment === null ? environments : [environment])
  if (shown.length === 0) return <span className="muted">{t('triggers.noRun')}</span>
  return (
    <span className="last-runs">
      {shown.map(({ id, environment: { name }, outcome, scheduledAt }) => (
        <span
          key={id}
          className="last-run"
          title={t('triggers.mark', name, describeOutcome(outcome, t).word, relative(scheduledAt))}
        >
          <RunMark outcome={outcome} />
          <span>{name}</span>
          <span className="visually-hidden">{describeOutcome(outcome, t).word}</span>
        </span>
      ))}
    </span>
  )
}

type Language = { t: Translate; locale: string }

/** The columns with the values of the trigger. */
const createValueColumns = ({ t, locale }: Language): DataColumn<TriggerRow>[] => [
  {
    id: 'name',
    title: t('triggers.name'),
    sortField: 'name',
    width: '3fr',
    minWidth: 136,
    isRowHeader: true,
    priority: 1,
    render: ({ name, application, enabled }) => (
      <TwoLines
        first={name}
        second={
          <>
            {!enabled && <span className="narrow-only">{t('triggers.disabled')} · </span>}
            <span className="trigger-application">{application.name}</span>
          </>
        }
      />
    ),
  },
  {
    id: 'schedule',
    title: t('triggers.schedule'),
    width: '4fr',
    minWidth: 200,
    priority: 3,
    render: ({ cronExpression }) => (
      <TwoLines
        first={describeCron(cronExpression, { t, locale }) ?? cronExpression}
        second={cronExpression}
      />
    ),
  },
  {
    id: 'status',
    title: t('triggers.status'),
    sortField: 'enabled',
    width: 112,
    minWidth: 112,
    priority: 2,
    render: ({ enabled }) => <EnabledStatus isEnabled={enabled} />,
  },
]

/** Returns the columns. The next and the last runs arrive after the rows, so that the rows are shown without delay. */
export function useTriggerColumns({
  data: states,
  isLoading,
}: TriggerStates): readonly DataColumn<TriggerRow>[] {
  const t = useText()
  const { locale } = useLanguage()
  return useMemo(
    () => [
      ...createValueColumns({ t, locale }),
      {
        id: 'lastRuns',
        title: t('triggers.lastRuns'),
        width: 200,
        minWidth: 168,
        priority: 1,
        render: ({ id }) => {
          const state = states?.get(id)
          if (state === undefined) return isLoading && <CellSkeleton />
          return <LastRuns runs={state.runs} />
        },
      },
      {
        id: 'nextRun',
        title: t('triggers.nextRun'),
        align: 'end',
        width: 112,
        minWidth: 112,
        priority: 2,
        render: ({ id, enabled }) => {
          const [next] = states?.get(id)?.next.nextRuns ?? []
          return !enabled || next === undefined ? <span className="muted">–</span> : <Time at={next} />
        },
      },
    ],
    [t, locale, states, isLoading],
  )
}
