// A schedule in words, and its fields with their meaning.
import type { ReactNode } from 'react'
import { Icon } from '../../kit/icon.tsx'
import { useLanguage, useText } from '../../texts/language.tsx'
import { splitFields, splitZone } from './cron-fields.ts'
import { describeCron, nameZone } from './cron-words.ts'

const names = ['minute', 'hour', 'day', 'month', 'weekday'] as const

/** Shows nothing while the expression is not complete. */
export function ScheduleWords({ expression }: { expression: string }): ReactNode {
  const t = useText()
  const { locale } = useLanguage()
  const words = describeCron(expression, { t, locale })
  if (words === null) return null
  const fields = splitFields(expression)
  return (
    <div className="schedule">
      <p className="schedule-words">
        <Icon name="clock" tone="accent" />
        <span>{words}</span>
      </p>
      <dl className="schedule-parts">
        <div className="schedule-part">
          <dt className="truncate">{t('triggers.part.zone')}</dt>
          <dd className="mono truncate">{nameZone(splitZone(expression).zone)}</dd>
        </div>
        {names.map((name, index) => (
          <div key={name} className="schedule-part">
            <dt className="truncate">{t(`triggers.part.${name}`)}</dt>
            <dd className="mono truncate" title={fields[index]}>
              {fields[index]}
            </dd>
          </div>
        ))}
      </dl>
    </div>
  )
}
