import { type ReactNode, useState } from 'react'
import { type DataColumn, DataTable, type Sort, TwoLines } from '../kit/data-table.tsx'
import { Badge } from '../kit/badge.tsx'
import type { PageSize } from '../kit/page-sizes.ts'
import { Pager } from '../kit/pager.tsx'

type Row = { id: string; name: string; slug: string; mode: string; count: number }
const rows: readonly Row[] = Array.from({ length: 100 }, (_, index) => ({
  id: String(index),
  name: `Tenant ${index + 1}`,
  slug: `tenant-${index + 1}`,
  mode: index % 3 === 0 ? 'dedicated' : 'shared',
  count: (index * 7) % 40,
}))

const columns: readonly DataColumn<Row>[] = [
  {
    id: 'name',
    title: 'Name',
    sortField: 'name',
    width: '2fr',
    minWidth: 160,
    isRowHeader: true,
    priority: 1,
    render: ({ name, slug }) => <TwoLines first={name} second={slug} />,
  },
  { id: 'mode', title: 'Mode', priority: 3, render: ({ mode }) => <Badge tone="outline">{mode}</Badge> },
  { id: 'members', title: 'Members', align: 'end', render: ({ count }) => count },
]

/** A page of 100 rows. Only the visible rows are in the document. */
export function SampleTable(): ReactNode {
  const [open, setOpen] = useState<string | null>('1')
  const [sort, setSort] = useState<Sort | null>(null)
  const [page, setPage] = useState(1)
  const [size, setSize] = useState<PageSize>(100)
  return (
    <>
      <div className="kit-table">
        <DataTable
          label="Tenants"
          columns={columns}
          rows={rows}
          openId={open}
          onOpen={setOpen}
          sort={sort}
          onSort={setSort}
        />
      </div>
      <div className="kit-row">
        <Pager
          page={page}
          size={size}
          shown={100}
          total={10_000}
          isTotalExact={false}
          onPage={setPage}
          onSize={setSize}
        />
      </div>
    </>
  )
}
