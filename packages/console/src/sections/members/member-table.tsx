// The table of members, and the states that replace its rows.
import { type ReactNode, useMemo } from 'react'
import type { describeFailure } from '../../api/failures.ts'
import type { ListSearch } from '../../app/list-search.ts'
import { namePerson } from '../../app/person-name.ts'
import { Button } from '../../kit/button.tsx'
import { type DataColumn, DataTable, TwoLines } from '../../kit/data-table.tsx'
import { FailureState, Skeleton, State } from '../../kit/state.tsx'
import { Avatar, Time } from '../../kit/values.tsx'
import { useText } from '../../texts/language.tsx'
import { RoleBadges } from './group-badge.tsx'
import { type Kind, type Member, operations } from './kinds.ts'
import { useMe } from './roles.ts'

type Row = Member & { readonly userId: string }

type TableProps = { list: ListSearch; kind: Kind; rows: readonly Row[]; placeholder: ReactNode }

export function MemberTable({ list, kind, rows, placeholder }: TableProps): ReactNode {
  const t = useText()
  const me = useMe()
  const { roleField } = operations[kind]
  const columns = useMemo(
    (): readonly DataColumn<Row>[] => [
      {
        id: 'person',
        title: t('members.person'),
        sortField: 'userName',
        width: '3fr',
        minWidth: 200,
        isRowHeader: true,
        priority: 1,
        render: ({ user }) => (
          <div className="person-cell">
            <Avatar name={namePerson(user)} />
            <TwoLines
              first={user.id === me.id ? t('members.you', namePerson(user)) : namePerson(user)}
              second={user.externalEmail}
            />
          </div>
        ),
      },
      {
        id: 'role',
        title: t('members.role'),
        sortField: roleField,
        width: '1fr',
        minWidth: 152,
        priority: 1,
        render: (member) => <RoleBadges membership={member} />,
      },
      {
        id: 'updatedAt',
        title: t('members.changedAt'),
        align: 'end',
        width: '1fr',
        minWidth: 120,
        priority: 3,
        render: ({ updatedAt }) => <Time at={updatedAt} />,
      },
    ],
    [t, me.id, roleField],
  )
  return (
    <DataTable
      label={t('section.members')}
      columns={columns}
      // A person occurs at most once in a list, so the address can contain the id of the person.
      rows={rows.map((row) => ({ ...row, id: row.userId }))}
      sort={list.sort}
      onSort={list.setSort}
      openId={list.open}
      onOpen={list.setOpen}
      placeholder={placeholder}
    />
  )
}

type PlaceholderProps = {
  kind: Kind
  list: ListSearch
  hasTarget: boolean
  isLoading: boolean
  failure: ReturnType<typeof describeFailure> | null
  onRetry: () => void
}

export function MemberPlaceholder({
  kind,
  list,
  hasTarget,
  isLoading,
  failure,
  onRetry,
}: PlaceholderProps): ReactNode {
  const t = useText()
  if (!hasTarget && kind !== 'project')
    return (
      <State icon={kind === 'tenant' ? 'tenants' : 'applications'} title={t(`members.choose.${kind}`)}>
        {t('members.chooseHint')}
      </State>
    )
  if (failure !== null) return <FailureState failure={failure} onRetry={onRetry} />
  if (isLoading) return <Skeleton />
  if (list.search['q'] === undefined && list.search['role'] === undefined)
    return (
      <State icon="members" title={t('members.empty')}>
        {t(`members.emptyHint.${kind}`)}
      </State>
    )
  return (
    <State
      icon="search"
      title={t('members.noMatch')}
      actions={
        <Button onPress={() => list.setFilter({ q: undefined, role: undefined })}>
          {t('members.clearFilters')}
        </Button>
      }
    >
      {t('members.noMatchHint')}
    </State>
  )
}
