// The next planned times of a schedule, in its time zone and in a second one.
import { type ReactNode, useMemo } from 'react'
import { useNow } from '../../app/now.ts'
import { SectionRow, SectionText } from '../../kit/section.tsx'
import { useFormat } from '../../texts/format.ts'
import { useLanguage, useText } from '../../texts/language.tsx'
import { describeInstant, findOwnZone } from './instants.ts'

type NextRunsProps = {
  times: readonly string[]
  /** The time zone of the schedule; null for UTC. */
  zone: string | null
}

export function NextRuns({ times, zone }: NextRunsProps): ReactNode {
  const t = useText()
  const { locale } = useLanguage()
  const { relative } = useFormat()
  const now = useNow()
  const ownZone = useMemo(() => findOwnZone(), [])
  const shownZone = zone ?? 'UTC'
  if (times.length === 0) return <SectionText>{t('triggers.noNextRuns')}</SectionText>
  return (
    <ol className="next-runs">
      {times.map((time) => {
        const { day, clock } = describeInstant(time, shownZone, locale)
        // A person in the zone of the schedule sees UTC instead, because logs use it.
        const isOwn = describeInstant(time, ownZone, locale).clock === clock
        const other = describeInstant(time, isOwn ? 'UTC' : ownZone, locale).clock
        const isUtc = isOwn && other === clock
        return (
          <li key={time}>
            <SectionRow end={<time dateTime={time}>{relative(time, now)}</time>}>
              <span className="next-run-day">{day}</span>
              <strong className="numbers">{clock}</strong>
              <span className="muted numbers truncate">
                {isUtc
                  ? 'UTC'
                  : isOwn || ownZone === 'UTC'
                    ? t('triggers.utcTime', other)
                    : t('triggers.yourTime', other)}
              </span>
            </SectionRow>
          </li>
        )
      })}
    </ol>
  )
}
