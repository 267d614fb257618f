// The newest runs as lanes of environments on one axis, so that a failure in one environment is seen against the others.
import { type ReactNode, useMemo } from 'react'
import { Toolbar } from 'react-aria-components'
import { useEnvironment } from '../../app/environment.tsx'
import { type CurrentEnvironment, useProject } from '../../app/project.tsx'
import { EnvironmentBadge } from '../../kit/badge.tsx'
import { useFormat } from '../../texts/format.ts'
import { useLanguage, useText } from '../../texts/language.tsx'
import { describeInstant, findOwnZone } from './instants.ts'
import { RunMark } from './run-mark.tsx'
import { describeOutcome } from './run-words.ts'
import { listTimeline } from './timeline.ts'
import type { Run } from './trigger-types.ts'

type RunTimelineProps = {
  runs: readonly Run[]
  /** The next planned time; null if the trigger is disabled. */
  planned: string | null
  openId: string | null
  onOpen: (runId: string) => void
}

const legend = ['delivered', 'failed', 'skipped_no_backend', 'missed', 'planned'] as const

/** Shows nothing until there are runs. */
export function RunTimeline({ runs, planned, openId, onOpen }: RunTimelineProps): ReactNode {
  const t = useText()
  const { environments } = useProject()
  const environment = useEnvironment()
  const { instants, lanes } = useMemo(
    () => listTimeline(runs, environment === null ? environments : [environment]),
    [runs, environment, environments],
  )
  if (lanes.length === 0) return null
  return (
    <section className="timeline" aria-label={t('triggers.timeline')}>
      <header className="timeline-head">
        <h2 className="timeline-title">{t('triggers.timeline')}</h2>
        <span className="muted">{t('triggers.timelineHint')}</span>
        <ul className="timeline-legend">
          {legend.map((name) => (
            <li key={name}>
              <RunMark outcome={name} />
              {name === 'planned'
                ? t('triggers.planned')
                : name === 'skipped_no_backend'
                  ? t('triggers.skipped')
                  : t(`triggers.outcome.${name}`)}
            </li>
          ))}
        </ul>
      </header>
      {lanes.map((lane) => (
        <Lane key={lane.environment.id} {...lane} planned={planned} openId={openId} onOpen={onOpen} />
      ))}
      <Axis instants={planned === null ? instants : [...instants, planned]} />
    </section>
  )
}

type LaneProps = Omit<RunTimelineProps, 'runs'> & {
  environment: CurrentEnvironment
  /** The run at each instant of the axis; null if there is none. */
  marks: readonly (Run | null)[]
}

function Lane({ environment, marks, planned, openId, onOpen }: LaneProps): ReactNode {
  const t = useText()
  const { exact } = useFormat()
  return (
    <div className="lane">
      <span className="lane-name">
        <EnvironmentBadge name={environment.name} isProtected={environment.protected} />
      </span>
      <Toolbar className="lane-marks" aria-label={t('triggers.laneOf', environment.name)}>
        {marks.map((run, index) =>
          run === null ? (
            // oxlint-disable-next-line react/no-array-index-key -- a gap has no identity except its position
            <span key={index} className="lane-cell" />
          ) : (
            <button
              key={run.id}
              type="button"
              className="lane-cell"
              aria-pressed={run.id === openId}
              aria-label={t(
                'triggers.mark',
                environment.name,
                describeOutcome(run.outcome, t).word,
                exact(run.scheduledAt),
              )}
              title={`${describeOutcome(run.outcome, t).word}, ${exact(run.scheduledAt)}`}
              onClick={() => onOpen(run.id)}
            >
              <RunMark outcome={run.outcome} />
            </button>
          ),
        )}
        {planned !== null && (
          <span className="lane-cell" title={`${t('triggers.planned')}, ${exact(planned)}`}>
            <RunMark outcome="planned" />
          </span>
        )}
      </Toolbar>
    </div>
  )
}

/** The times of the marks. A day is shown where it starts. */
function Axis({ instants }: { instants: readonly string[] }): ReactNode {
  const { locale } = useLanguage()
  const zone = useMemo(() => findOwnZone(), [])
  const day = useMemo(() => new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short' }), [locale])
  return (
    <div className="lane timeline-axis" aria-hidden="true">
      <span className="lane-name" />
      <div className="lane-marks">
        {instants.map((time, index) => {
          const previous = instants[index - 1]
          const text = day.format(Date.parse(time))
          const isNewDay = previous === undefined || day.format(Date.parse(previous)) !== text
          return (
            <span key={time} className="lane-cell">
              <span className="numbers">{describeInstant(time, zone, locale).clock}</span>
              <span>{isNewDay ? text : ''}</span>
            </span>
          )
        })}
      </div>
    </div>
  )
}
