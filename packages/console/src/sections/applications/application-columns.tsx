import { type ReactNode, useMemo } from 'react'
import { type DataColumn, TwoLines } from '../../kit/data-table.tsx'
import { Status } from '../../kit/badge.tsx'
import { CellSkeleton } from '../../kit/state.tsx'
import { Time } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { useApplicationCounts } from './application-counts.ts'
import type { ApplicationRow } from './application-types.ts'

/** Whether all, some or none of the backends are live. Shows nothing if there are no backends. */
export function LiveBackends({ live, total }: { live: number; total: number }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  if (total === 0) return <Status kind="off">{t('applications.noBackends')}</Status>
  const kind = live === total ? 'ok' : live > 0 ? 'warn' : 'danger'
  return <Status kind={kind}>{t('applications.live', number(live), number(total))}</Status>
}

/** Returns the columns. The counts arrive after the rows, so that the rows are shown without delay. */
export function useApplicationColumns(
  rows: readonly ApplicationRow[],
): readonly DataColumn<ApplicationRow>[] {
  const t = useText()
  const { number } = useFormat()
  const { data: counts, isLoading } = useApplicationCounts(rows)
  return useMemo(() => {
    const createCount = (
      name: 'tenants' | 'endpoints' | 'triggers',
      title: string,
      priority: 2 | 3,
    ): DataColumn<ApplicationRow> => ({
      id: name,
      title,
      align: 'end',
      width: 96,
      minWidth: 96,
      priority,
      render: ({ id }) => {
        const count = counts?.get(id)?.[name].totalCount
        if (count !== undefined) return number(count)
        return isLoading && <CellSkeleton />
      },
    })
    return [
      {
        id: 'name',
        title: t('applications.name'),
        sortField: 'name',
        width: '3fr',
        minWidth: 160,
        isRowHeader: true,
        priority: 1,
        render: ({ name, slug }) => <TwoLines first={name} second={slug} />,
      },
      createCount('tenants', t('applications.tenantsOn'), 2),
      createCount('endpoints', t('applications.endpoints'), 3),
      createCount('triggers', t('applications.triggers'), 3),
      {
        id: 'backends',
        title: t('applications.backends'),
        width: 144,
        minWidth: 144,
        priority: 1,
        render: ({ id }) => {
          const backends = counts?.get(id)?.backends
          if (backends === undefined) return isLoading && <CellSkeleton />
          const live = backends.filter(({ isLive }) => isLive).length
          return <LiveBackends live={live} total={backends.length} />
        },
      },
      {
        id: 'updatedAt',
        title: t('applications.changed'),
        align: 'end',
        width: 112,
        minWidth: 112,
        priority: 2,
        render: ({ updatedAt }) => <Time at={updatedAt} />,
      },
    ]
  }, [t, number, counts, isLoading])
}
