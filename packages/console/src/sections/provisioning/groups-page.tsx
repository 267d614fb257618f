// The groups that identity providers send, with the numbers of their members and rules.
import { Link } from '@tanstack/react-router'
import { type ReactNode, useMemo } from 'react'
import { useBatchedReads } from '../../api/batched-reads.ts'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { ExportButton } from '../../app/export-button.tsx'
import { ListPager } from '../../app/list-pager.tsx'
import { type ListSearch, useListSearch } from '../../app/list-search.ts'
import { useSearchText } from '../../app/use-search-text.ts'
import { type ProvisioningGroupsResult, provisioningGroupsDocument } from '../../generated/documents.ts'
import { Button } from '../../kit/button.tsx'
import { type DataColumn, DataTable, TwoLines } from '../../kit/data-table.tsx'
import { SearchField } from '../../kit/form.tsx'
import { Page } from '../../kit/page.tsx'
import { CellSkeleton, FailureState, Skeleton, State } from '../../kit/state.tsx'
import { Time } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { GroupPanel } from './group-panel.tsx'

type Group = ProvisioningGroupsResult['groups']['nodes'][number]

function useGroups({ search, sort, page, size }: ListSearch) {
  const text = search['q'] ?? ''
  const filters = text === '' ? [] : [{ field: 'displayName', value: text }]
  const order = [sort ?? { field: 'displayName', direction: 'ASC' as const }]
  const { data, error, refetch } = useRead(
    provisioningGroupsDocument,
    { filters, order, pagination: { limit: size, offset: (page - 1) * size } },
    { keepsPrevious: true },
  )
  return { result: data?.groups, filters, order, error, retry: () => void refetch() }
}

export function GroupsPage({ choice }: { choice: ReactNode }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const list = useListSearch()
  const [text, setText] = useSearchText(list)
  const { result, filters, order, error, retry } = useGroups(list)
  const rows = result?.nodes ?? []
  const columns = useColumns(rows)
  return (
    <Page
      title={t('section.provisioning')}
      isEdgeToEdge
      note={result !== undefined && <span className="numbers">{number(result.totalCount)}</span>}
      actions={
        <ExportButton
          fileName="groups.csv"
          read={{
            document: provisioningGroupsDocument,
            variables: { filters, order, pagination: { limit: 100, offset: 0 } },
            select: ({ groups }) => groups,
          }}
          heads={['id', 'name', 'externalId', 'members', 'updatedAt']}
          toCells={(group) => [
            group.id,
            group.displayName,
            group.externalId ?? '',
            group.memberCount,
            group.updatedAt,
          ]}
        />
      }
      filters={
        <>
          {choice}
          <SearchField label={t('provisioning.searchGroups')} value={text} onChange={setText} />
        </>
      }
      foot={result !== undefined && <ListPager list={list} result={result} />}
      panel={
        list.open !== null && (
          <GroupPanel key={list.open} id={list.open} ids={rows.map(({ id }) => id)} list={list} />
        )
      }
    >
      <DataTable
        label={t('provisioning.view.groups')}
        columns={columns}
        rows={rows}
        sort={list.sort}
        onSort={list.setSort}
        openId={list.open}
        onOpen={list.setOpen}
        placeholder={
          result === undefined ? (
            error === null ? (
              <Skeleton rows={12} />
            ) : (
              <FailureState failure={describeFailure(error)} onRetry={retry} />
            )
          ) : (
            <NoGroups list={list} />
          )
        }
      />
    </Page>
  )
}

/** The list of groups has no numbers of rules, so they are counted for the visible groups. */
function useRuleCounts(groups: readonly Group[]) {
  return useBatchedReads<{ rules: { readonly totalCount: number } }>({
    name: 'group-rule-counts',
    ids: groups.map(({ id }) => id),
    idType: 'String!',
    fields: {
      rules:
        'groupRulesConnection(filters: [{ field: "groupId", value: $id }], pagination: { limit: 1, offset: 0 }) { totalCount }',
    },
  }).data
}

function useColumns(groups: readonly Group[]): readonly DataColumn<Group>[] {
  const t = useText()
  const { number } = useFormat()
  const counts = useRuleCounts(groups)
  return useMemo(
    () => [
      {
        id: 'group',
        title: t('provisioning.group'),
        sortField: 'displayName',
        width: '3fr',
        minWidth: 160,
        isRowHeader: true,
        priority: 1,
        render: ({ displayName, externalId }) =>
          externalId === null ? (
            <span className="truncate" title={displayName}>
              {displayName}
            </span>
          ) : (
            <TwoLines first={displayName} second={externalId} />
          ),
      },
      {
        id: 'members',
        title: t('provisioning.people'),
        sortField: 'memberCount',
        align: 'end',
        minWidth: 80,
        priority: 1,
        render: ({ memberCount }) => <span className="numbers">{number(memberCount)}</span>,
      },
      {
        id: 'rules',
        title: t('provisioning.view.rules'),
        align: 'end',
        minWidth: 72,
        priority: 2,
        render: ({ id }) => {
          const count = counts?.get(id)?.rules.totalCount
          return count === undefined ? <CellSkeleton /> : <span className="numbers">{number(count)}</span>
        },
      },
      {
        id: 'updatedAt',
        title: t('members.changedAt'),
        align: 'end',
        minWidth: 120,
        priority: 3,
        render: ({ updatedAt }) => <Time at={updatedAt} />,
      },
    ],
    [t, number, counts],
  )
}

function NoGroups({ list }: { list: ListSearch }): ReactNode {
  const t = useText()
  if (list.search['q'] === undefined && list.page === 1)
    return (
      <State
        icon="members"
        title={t('provisioning.noGroups')}
        actions={
          <Link to="/system/provisioning" className="button" data-variant="default">
            {t('provisioning.view.providers')}
          </Link>
        }
      >
        {t('provisioning.noGroupsHint')}
      </State>
    )
  return (
    <State
      icon="search"
      title={t('provisioning.noGroupMatches')}
      actions={<Button onPress={() => list.setFilter({ q: undefined })}>{t('app.clearFilters')}</Button>}
    >
      {t('provisioning.noMatchHint')}
    </State>
  )
}
