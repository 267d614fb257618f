import { type ReactNode, useMemo } from 'react'
import type { ApplicationListResult } from '../../generated/documents.ts'
import { type DataColumn, TwoLines } from '../../kit/data-table.tsx'
import { Sparkline } from '../../kit/sparkline.tsx'
import { CellSkeleton } from '../../kit/state.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { DayRange, Delivery, Totals } from './delivery.ts'

export type ApplicationRow = ApplicationListResult['applicationsConnection']['nodes'][number]

/** A number and its share of the recipients. */
export function Share({ count, of }: { count: number; of: number }): ReactNode {
  const { number, percent } = useFormat()
  return (
    <span className="numbers">
      {number(count)}
      {of > 0 && <span className="muted"> {percent(count / of)}</span>}
    </span>
  )
}

/** Returns the columns. The counts arrive after the rows. */
export function useDeliveryColumns(
  deliveries: ReadonlyMap<string, Delivery>,
  range: DayRange,
): readonly DataColumn<ApplicationRow>[] {
  const t = useText()
  const { number } = useFormat()
  return useMemo(() => {
    const createCount = (
      id: keyof Totals,
      priority: 1 | 2 | 3,
      render: (totals: Totals) => ReactNode,
    ): DataColumn<ApplicationRow> => ({
      id,
      title: t(`notifications.${id}`),
      align: 'end',
      width: 128,
      minWidth: 112,
      priority,
      render: (row) => {
        const delivery = deliveries.get(row.id)
        return delivery === undefined ? <CellSkeleton /> : render(delivery.totals)
      },
    })
    return [
      {
        id: 'name',
        title: t('notifications.application'),
        sortField: 'name',
        width: '3fr',
        minWidth: 144,
        isRowHeader: true,
        priority: 1,
        render: ({ name, slug }) => <TwoLines first={name} second={slug} />,
      },
      {
        id: 'days',
        title: t('notifications.perDay'),
        width: 136,
        minWidth: 136,
        priority: 3,
        render: ({ id }) => {
          const bars = deliveries.get(id)?.bars
          return (
            bars !== undefined && (
              <Sparkline
                values={bars}
                size="small"
                tone="neutral"
                label={t('notifications.bars', Math.max(...bars), range.days)}
              />
            )
          )
        },
      },
      createCount('emitted', 1, ({ emitted }) => <span className="numbers">{number(emitted)}</span>),
      createCount('recipients', 2, ({ recipients }) => <span className="numbers">{number(recipients)}</span>),
      createCount('seen', 2, ({ seen, recipients }) => <Share count={seen} of={recipients} />),
      createCount('read', 1, ({ read, recipients }) => <Share count={read} of={recipients} />),
    ]
  }, [t, number, deliveries, range])
}
