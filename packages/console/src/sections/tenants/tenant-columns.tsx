import { type ReactNode, useMemo } from 'react'
import { useApplicationNames } from '../../app/applications.ts'
import { type TenantCounts, useTenantCounts } from '../../app/tenant-counts.ts'
import type { TenantListResult } from '../../generated/documents.ts'
import { Badge } from '../../kit/badge.tsx'
import { type DataColumn, TwoLines } from '../../kit/data-table.tsx'
import { CellSkeleton } from '../../kit/state.tsx'
import { Time } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'

type Row = TenantListResult['tenantsConnection']['nodes'][number]

const ModeText = ({ mode }: { mode: string }): ReactNode =>
  mode === 'shared' ? <span className="secondary">{mode}</span> : <Badge tone="outline">{mode}</Badge>

/** Returns the columns. The counts arrive after the rows, so that the rows are shown without delay. */
export function useTenantColumns(rows: readonly Row[]): readonly DataColumn<Row>[] {
  const t = useText()
  const { number } = useFormat()
  const counts = useTenantCounts(rows)
  const total = useApplicationNames().data?.rows.length
  return useMemo(() => {
    const show = (row: Row, name: keyof TenantCounts, rest: ReactNode = null): ReactNode => {
      const count = counts.get(row.id)?.[name]
      if (count === undefined) return <CellSkeleton />
      return (
        count !== null && (
          <span>
            {number(count)}
            {rest}
          </span>
        )
      )
    }
    return [
      {
        id: 'name',
        title: t('tenants.name'),
        sortField: 'name',
        width: '3fr',
        minWidth: 160,
        isRowHeader: true,
        priority: 1,
        render: (row) => <TwoLines first={row.name} second={row.slug} />,
      },
      {
        id: 'deploymentMode',
        title: t('tenants.mode'),
        sortField: 'deploymentMode',
        width: 104,
        minWidth: 104,
        priority: 3,
        render: ({ deploymentMode }) => <ModeText mode={deploymentMode} />,
      },
      {
        id: 'applications',
        title: t('tenants.apps'),
        align: 'end',
        width: 72,
        minWidth: 72,
        priority: 2,
        render: (row) =>
          show(row, 'applications', total !== undefined && <span className="muted"> / {number(total)}</span>),
      },
      {
        id: 'members',
        title: t('tenants.members'),
        align: 'end',
        width: 96,
        priority: 3,
        render: (row) => show(row, 'members'),
      },
      {
        id: 'updatedAt',
        title: t('tenants.changed'),
        align: 'end',
        width: 112,
        minWidth: 112,
        priority: 1,
        render: ({ updatedAt }) => <Time at={updatedAt} />,
      },
    ]
  }, [t, number, counts, total])
}
