// One page of a list in a panel, with its states and a pager.
import type { TypedDocument } from '@manager/client'
import { type ReactNode, useState } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import type { Pagination } from '../../generated/documents.ts'
import type { PageSize } from '../../kit/page-sizes.ts'
import { Pager } from '../../kit/pager.tsx'
import { Section, SectionText } from '../../kit/section.tsx'
import { FailureState, Skeleton } from '../../kit/state.tsx'
import { useFormat } from '../../texts/format.ts'

type RowsPage<Row> = {
  readonly nodes: readonly Row[]
  readonly totalCount: number
  readonly isTotalExact: boolean
}
type Variables = { readonly application: string; readonly pagination?: Pagination | null }

type PagedListProps<Result, Row> = {
  title: string
  empty: string
  document: TypedDocument<Result, Variables>
  applicationId: string
  select: (result: Result) => RowsPage<Row>
  renderRow: (row: Row) => ReactNode
}

export function PagedList<Result, Row>({
  title,
  empty,
  document,
  applicationId,
  ...props
}: PagedListProps<Result, Row>): ReactNode {
  const { number } = useFormat()
  const [page, setPage] = useState(1)
  const [size, setSize] = useState<PageSize>(25)
  const { data, error, refetch } = useRead(
    document,
    { application: applicationId, pagination: { limit: size, offset: (page - 1) * size } },
    { keepsPrevious: true },
  )
  const rows = data === undefined ? undefined : props.select(data)
  return (
    <Section title={title} note={rows !== undefined && number(rows.totalCount)}>
      {rows === undefined &&
        (error === null ? (
          <Skeleton rows={6} />
        ) : (
          <FailureState failure={describeFailure(error)} onRetry={() => void refetch()} />
        ))}
      {rows?.nodes.length === 0 && <SectionText>{empty}</SectionText>}
      {rows?.nodes.map(props.renderRow)}
      {rows !== undefined && rows.totalCount > size && (
        <div className="panel-pager">
          <Pager
            page={page}
            size={size}
            shown={rows.nodes.length}
            total={rows.totalCount}
            isTotalExact={rows.isTotalExact}
            onPage={setPage}
            onSize={(next) => {
              setSize(next)
              setPage(1)
            }}
          />
        </div>
      )}
    </Section>
  )
}
