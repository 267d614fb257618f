// The notifications of an application by day, beside the list.
import './notifications.css'
import { type ReactNode, useMemo } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { usePickedApplication } from '../../app/in-project.ts'
import { ItemActions } from '../../app/item-actions.tsx'
import type { ListSearch } from '../../app/list-search.ts'
import { Note } from '../../kit/note.tsx'
import { Section } from '../../kit/section.tsx'
import { SidePanel } from '../../kit/side-panel.tsx'
import { Sparkline } from '../../kit/sparkline.tsx'
import { FailureNote, FailureState, Skeleton } from '../../kit/state.tsx'
import { Facts, Id } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useLanguage, useText } from '../../texts/language.tsx'
import type { DayCount, DayRange, Delivery } from './delivery.ts'
import { Share } from './delivery-columns.tsx'
import { useDelivery } from './use-delivery.ts'

type DeliveryPanelProps = { id: string; ids: readonly string[]; range: DayRange; list: ListSearch }

export function DeliveryPanel({ id, ids, range, list }: DeliveryPanelProps): ReactNode {
  const t = useText()
  const { item: application, error } = usePickedApplication(id)
  return (
    <SidePanel
      title={application?.name ?? t('notifications.application')}
      subtitle={application !== undefined && <Id value={application.id} />}
      actions={<ItemActions ids={ids} openId={id} onOpen={(next) => list.setOpen(next)} />}
      onClose={() => list.setOpen(null)}
    >
      {application !== undefined ? (
        <ApplicationDelivery id={application.id} range={range} />
      ) : error === null ? (
        <Skeleton rows={6} />
      ) : (
        <FailureState failure={describeFailure(error)} />
      )}
    </SidePanel>
  )
}

function ApplicationDelivery({ id, range }: { id: string; range: DayRange }): ReactNode {
  const t = useText()
  const ids = useMemo(() => [id], [id])
  const { deliveries, error, refetch } = useDelivery(ids, range)
  const delivery = deliveries.get(id)
  if (error !== null) return <FailureNote failure={describeFailure(error)} onRetry={refetch} />
  if (delivery === undefined) return <Skeleton rows={6} />
  return (
    <div className="delivery">
      <TotalFacts delivery={delivery} range={range} />
      <Section title={t('notifications.byDay')} note={t(`notifications.range.${range.id}`)}>
        {delivery.days.length === 0 ? (
          <p className="section-text">{t('notifications.noneInRange')}</p>
        ) : (
          <DayTable days={delivery.days} />
        )}
      </Section>
      <Note tone="info">{t('notifications.delay')}</Note>
    </div>
  )
}

function TotalFacts({
  delivery: { totals, bars },
  range,
}: {
  delivery: Delivery
  range: DayRange
}): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const { emitted, recipients, seen, read } = totals
  return (
    <Facts
      items={[
        {
          label: t('notifications.perDay'),
          value: (
            <Sparkline
              values={bars}
              tone="neutral"
              label={t('notifications.bars', Math.max(...bars), range.days)}
            />
          ),
        },
        { label: t('notifications.emitted'), value: number(emitted) },
        { label: t('notifications.recipients'), value: number(recipients) },
        { label: t('notifications.seen'), value: <Share count={seen} of={recipients} /> },
        { label: t('notifications.read'), value: <Share count={read} of={recipients} /> },
      ]}
    />
  )
}

function DayTable({ days }: { days: readonly DayCount[] }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const { locale } = useLanguage()
  // The API counts by days in UTC, so the days have the same names in every time zone.
  const format = useMemo(
    () => new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', timeZone: 'UTC' }),
    [locale],
  )
  return (
    <table className="delivery-days">
      <thead>
        <tr>
          <th scope="col">{t('notifications.day')}</th>
          {(['emitted', 'recipients', 'seen', 'read'] as const).map((name) => (
            <th key={name} scope="col" className="delivery-number">
              {t(`notifications.${name}`)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {days.map(({ day, emitted, recipients, seen, read }) => (
          <tr key={day}>
            <th scope="row">{format.format(Date.parse(day))}</th>
            {[emitted, recipients, seen, read].map((count, index) => (
              // oxlint-disable-next-line react/no-array-index-key -- the columns have no other identity
              <td key={index} className="delivery-number numbers">
                {number(count)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
