// Every person whom the installation knows, and the open person beside the list.
import { type ReactNode, useMemo } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { ExportButton } from '../../app/export-button.tsx'
import { ListPager } from '../../app/list-pager.tsx'
import { type ListSearch, useListSearch } from '../../app/list-search.ts'
import { useSearchText } from '../../app/use-search-text.ts'
import { type Filter, type SystemUsersResult, systemUsersDocument } from '../../generated/documents.ts'
import { Button } from '../../kit/button.tsx'
import { type DataColumn, DataTable } from '../../kit/data-table.tsx'
import { SearchField, Select } from '../../kit/form.tsx'
import { Page } from '../../kit/page.tsx'
import { FailureState, Skeleton, State } from '../../kit/state.tsx'
import { Time } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { Translate } from '../../texts/texts.ts'
import { useMe } from '../members/roles.ts'
import { PersonCell } from './person-cell.tsx'
import { PersonStatus } from './person-status.tsx'
import { SystemRole } from './system-role.tsx'
import { createTextFilters } from './user-filters.ts'
import { UserPanel } from './user-panel.tsx'

type User = SystemUsersResult['usersConnection']['nodes'][number]

const systemRoles = ['administrator', 'user'] as const

export function PeoplePage({ choice }: { choice: ReactNode }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const list = useListSearch()
  const { result, filters, order, error, retry } = usePeople(list)
  const rows = result?.nodes ?? []
  return (
    <Page
      title={t('section.users')}
      isEdgeToEdge
      note={
        result !== undefined && (
          <span className="numbers">
            {number(result.totalCount)}
            {!result.isTotalExact && '+'}
          </span>
        )
      }
      actions={
        <ExportButton
          fileName="users.csv"
          read={{
            document: systemUsersDocument,
            variables: { filters, order, pagination: { limit: 100, offset: 0 } },
            select: (page) => page.usersConnection,
          }}
          heads={['id', 'name', 'userName', 'email', 'systemRole', 'active', 'provisioned', 'updatedAt']}
          toCells={(user) => [
            user.id,
            user.externalName,
            user.externalUsername,
            user.externalEmail,
            user.role,
            String(user.active),
            String(user.provisioned),
            user.updatedAt,
          ]}
        />
      }
      filters={<Filters list={list} choice={choice} />}
      foot={result !== undefined && <ListPager list={list} result={result} />}
      panel={
        list.open !== null && (
          <UserPanel key={list.open} id={list.open} ids={rows.map(({ id }) => id)} list={list} />
        )
      }
    >
      <PeopleTable list={list} rows={rows}>
        {result === undefined ? (
          error === null ? (
            <Skeleton rows={12} />
          ) : (
            <FailureState failure={describeFailure(error)} onRetry={retry} />
          )
        ) : (
          <NoPeople list={list} />
        )}
      </PeopleTable>
    </Page>
  )
}

/** Reads the page of people. A text that matches no name is tried as a user name. */
function usePeople({ search, sort, page, size }: ListSearch) {
  const role = systemRoles.find((name) => name === search['role'])
  const roleFilter: readonly Filter[] = role === undefined ? [] : [{ field: 'role', value: role }]
  const [first = [], second] = createTextFilters(search['q'] ?? '')
  const order = [sort ?? { field: 'externalName', direction: 'ASC' as const }]
  const variables = (text: readonly Filter[]) => ({
    filters: [...text, ...roleFilter],
    order,
    pagination: { limit: size, offset: (page - 1) * size },
  })
  const byFirst = useRead(systemUsersDocument, variables(first), { keepsPrevious: true })
  const isSecondTried = second !== undefined && byFirst.data?.usersConnection.totalCount === 0
  const bySecond = useRead(systemUsersDocument, variables(second ?? []), { isEnabled: isSecondTried })
  const isSecondUsed = isSecondTried && bySecond.data !== undefined
  return {
    result: (isSecondUsed ? bySecond : byFirst).data?.usersConnection,
    filters: variables(isSecondUsed ? second : first).filters,
    order,
    error: byFirst.error ?? bySecond.error,
    retry: () => void byFirst.refetch(),
  }
}

const createColumns = (t: Translate, ownId: string | null): readonly DataColumn<User>[] => [
  {
    id: 'person',
    title: t('members.person'),
    sortField: 'externalName',
    width: '3fr',
    minWidth: 200,
    isRowHeader: true,
    priority: 1,
    render: (user) => <PersonCell user={user} isSelf={user.id === ownId} />,
  },
  {
    id: 'role',
    title: t('members.systemRole'),
    sortField: 'role',
    minWidth: 128,
    priority: 1,
    render: ({ role }) => <SystemRole role={role} />,
  },
  {
    id: 'status',
    title: t('system.status'),
    width: '2fr',
    minWidth: 240,
    priority: 2,
    render: (user) => <PersonStatus user={user} />,
  },
  {
    id: 'userName',
    title: t('members.userName'),
    sortField: 'externalUsername',
    width: '2fr',
    minWidth: 160,
    priority: 3,
    render: ({ externalUsername }) => (
      <span className="truncate" title={externalUsername}>
        {externalUsername}
      </span>
    ),
  },
  {
    id: 'updatedAt',
    title: t('members.changedAt'),
    align: 'end',
    minWidth: 120,
    priority: 3,
    render: ({ updatedAt }) => <Time at={updatedAt} />,
  },
]

type PeopleTableProps = { list: ListSearch; rows: readonly User[]; children: ReactNode }

function PeopleTable({ list, rows, children }: PeopleTableProps): ReactNode {
  const t = useText()
  const { id } = useMe()
  const columns = useMemo(() => createColumns(t, id), [t, id])
  return (
    <DataTable
      label={t('section.users')}
      columns={columns}
      rows={rows}
      sort={list.sort}
      onSort={list.setSort}
      openId={list.open}
      onOpen={list.setOpen}
      placeholder={children}
    />
  )
}

function Filters({ list, choice }: { list: ListSearch; choice: ReactNode }): ReactNode {
  const t = useText()
  const [text, setText] = useSearchText(list)
  return (
    <>
      {choice}
      <SearchField label={t('system.searchPeople')} value={text} onChange={setText} />
      <Select
        label={t('members.systemRole')}
        isChip
        value={systemRoles.find((name) => name === list.search['role']) ?? 'any'}
        options={[
          { id: 'any', text: t('app.any') },
          ...systemRoles.map((name) => ({ id: name, text: name })),
        ]}
        onChange={(role) => list.setFilter({ role: role === 'any' ? undefined : role })}
      />
    </>
  )
}

function NoPeople({ list }: { list: ListSearch }): ReactNode {
  const t = useText()
  return (
    <State
      icon="search"
      title={t('members.noMatch')}
      actions={
        <Button onPress={() => list.setFilter({ q: undefined, role: undefined })}>
          {t('app.clearFilters')}
        </Button>
      }
    >
      {t('system.noPeopleHint')}
    </State>
  )
}
