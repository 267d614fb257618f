// Everyone who has access to a project, a tenant or an application, as the table of a page.
import './reach.css'
import { type ReactNode, useMemo } from 'react'
import { useRead } from '../../api/requests.ts'
import { type CursorPages, getCursorPage, useCursorPages } from '../../app/cursor-pages.ts'
import type { ListSearch } from '../../app/list-search.ts'
import { namePerson } from '../../app/person-name.ts'
import type { Filter } from '../../generated/documents.ts'
import { Badge } from '../../kit/badge.tsx'
import { type DataColumn, DataTable, TwoLines } from '../../kit/data-table.tsx'
import { Pager } from '../../kit/pager.tsx'
import { Avatar } from '../../kit/values.tsx'
import { useText } from '../../texts/language.tsx'
import { type ReachKind, type ReachRow, identifyRow, reachDocuments } from './reach-types.ts'
import { HiddenNote, describeScope, nameObject, useReasons } from './reach-words.tsx'

export type ReachPage = {
  readonly rows: readonly ReachRow[] | undefined
  readonly hiddenKinds: readonly string[]
  readonly hasNext: boolean
  readonly pages: CursorPages
  readonly error: Error | null
  readonly retry: () => void
}

/** Reads the page that the address names. Without an object, nothing is read. */
export function useReachPage(
  list: ListSearch,
  { kind, id, filters }: { kind: ReachKind; id: string | null; filters: readonly Filter[] },
): ReachPage {
  const { data, error, refetch } = useRead(
    reachDocuments[kind],
    {
      object: id ?? '',
      filters,
      pagination: { limit: list.size, offset: 0 },
      after: getCursorPage(list).after,
    },
    { isEnabled: id !== null, keepsPrevious: true },
  )
  const access = id === null ? undefined : data?.access
  const pages = useCursorPages(list, access?.pageInfo.endCursor)
  return {
    rows: access?.nodes,
    hiddenKinds: access?.hiddenKinds ?? [],
    hasNext: access?.pageInfo.hasNextPage ?? false,
    pages,
    error,
    retry: () => void refetch(),
  }
}

type TableProps = { page: ReachPage; placeholder: ReactNode; onOpen: (userId: string) => void }

export function ReachTable({ page, placeholder, onOpen }: TableProps): ReactNode {
  const t = useText()
  const columns = useReachColumns()
  const rows = useMemo(() => (page.rows ?? []).map((row) => ({ ...row, id: identifyRow(row) })), [page.rows])
  return (
    <>
      <DataTable
        label={t('reach.who')}
        columns={columns}
        rows={rows}
        rowHeight={48}
        onOpen={(id) => onOpen(id.split('.')[0] ?? '')}
        placeholder={placeholder}
      />
      <HiddenNote kinds={page.hiddenKinds} />
    </>
  )
}

function useReachColumns(): readonly DataColumn<ReachRow & { readonly id: string }>[] {
  const t = useText()
  const describeReasons = useReasons()
  return [
    {
      id: 'person',
      title: t('members.person'),
      width: '2fr',
      minWidth: 200,
      isRowHeader: true,
      priority: 1,
      render: ({ user }) => (
        <div className="person-cell">
          <Avatar name={namePerson(user)} />
          <TwoLines first={namePerson(user)} second={user.externalEmail} />
        </div>
      ),
    },
    {
      id: 'object',
      title: t('reach.object'),
      width: '2fr',
      minWidth: 160,
      priority: 2,
      render: (row) => <TwoLines first={nameObject(t, row)} second={describeScope(t, row)} />,
    },
    {
      id: 'role',
      title: t('members.role'),
      width: '1fr',
      minWidth: 120,
      priority: 1,
      render: ({ role }) => <Badge tone="outline">{role}</Badge>,
    },
    {
      id: 'reason',
      title: t('reach.reason'),
      width: '3fr',
      minWidth: 200,
      priority: 3,
      render: (row) => (
        <span className="truncate" title={describeReasons(row)}>
          {describeReasons(row)}
        </span>
      ),
    },
  ]
}

/** The pager of the table. The API does not count the people. */
export function ReachPager({ list, page }: { list: ListSearch; page: ReachPage }): ReactNode {
  const shown = page.rows?.length ?? 0
  return (
    <Pager
      page={page.pages.page}
      size={list.size}
      shown={shown}
      total={(page.pages.page - 1) * list.size + shown}
      isTotalExact={!page.hasNext}
      hasNext={page.hasNext}
      onPage={page.pages.goTo}
      onSize={list.setSize}
    />
  )
}
