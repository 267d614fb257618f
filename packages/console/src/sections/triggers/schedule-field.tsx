// The schedule of a trigger while a person types: in words, and its next runs. The Manager computes the runs, so that
// they are the times at which the trigger fires.
import { type ReactNode, useMemo, useState } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { useDebounced } from '../../app/debounced.ts'
import { triggerPreviewDocument } from '../../generated/documents.ts'
import { TextField } from '../../kit/form.tsx'
import { Note } from '../../kit/note.tsx'
import { Picker } from '../../kit/picker.tsx'
import { Section } from '../../kit/section.tsx'
import { Skeleton } from '../../kit/state.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { joinZone, splitZone } from './cron-fields.ts'
import { listZones } from './instants.ts'
import { NextRuns } from './next-runs.tsx'
import { ScheduleWords } from './schedule-parts.tsx'

type ScheduleFieldProps = { expression: string; onChange: (expression: string) => void }

export function ScheduleField({ expression, onChange }: ScheduleFieldProps): ReactNode {
  const t = useText()
  const { zone, expression: fields } = splitZone(expression)
  return (
    <>
      <TextField
        name="cronExpression"
        label={t('triggers.schedule')}
        hint={t('triggers.expressionHint')}
        value={expression}
        onChange={onChange}
        isMono
        isRequired
      />
      <ZonePicker zone={zone} onChange={(next) => onChange(joinZone(next, fields))} />
      <ScheduleWords expression={expression} />
      <Preview expression={expression} />
    </>
  )
}

const maxZones = 50

function ZonePicker({
  zone,
  onChange,
}: {
  zone: string | null
  onChange: (zone: string) => void
}): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const [search, setSearch] = useState('')
  const zones = useMemo(() => listZones(), [])
  const text = search.trim().replaceAll(' ', '_').toLowerCase()
  const found = zones.filter((name) => name.toLowerCase().includes(text))
  const current = zone ?? 'UTC'
  return (
    <Picker
      label={t('triggers.zone')}
      value={{ id: current, text: current }}
      placeholder={t('app.choose')}
      options={found.slice(0, maxZones).map((name) => ({ id: name, text: name }))}
      isLoading={false}
      search={search}
      onSearch={setSearch}
      note={found.length > maxZones ? t('triggers.moreZones', number(found.length)) : undefined}
      onChange={({ id }) => onChange(id)}
    />
  )
}

/** The message of the Manager starts with the name of the field. */
const withoutField = (message: string): string => message.replace(/^cronExpression /, '')

function Preview({ expression }: { expression: string }): ReactNode {
  const t = useText()
  const settled = useDebounced(expression)
  const isEmpty = settled.trim() === ''
  const { data, error, isPlaceholderData } = useRead(
    triggerPreviewDocument,
    { cronExpression: settled },
    { isEnabled: !isEmpty, keepsPrevious: true },
  )
  if (isEmpty) return null
  if (error !== null) {
    const { kind, message } = describeFailure(error)
    return (
      <Note tone="warn">
        {kind === 'invalid' ? t('triggers.invalid', withoutField(message)) : t('triggers.previewFailed')}
      </Note>
    )
  }
  return (
    <div className="preview" data-old={isPlaceholderData ? '' : undefined}>
      <Section title={t('triggers.nextRuns')}>
        {data === undefined ? (
          <Skeleton rows={10} />
        ) : (
          <NextRuns times={data.nextRuns} zone={splitZone(settled).zone} />
        )}
      </Section>
    </div>
  )
}
