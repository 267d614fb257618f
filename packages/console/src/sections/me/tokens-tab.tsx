// The personal access tokens of the caller.
import { type ReactNode, useMemo } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { ListPager } from '../../app/list-pager.tsx'
import type { ListSearch } from '../../app/list-search.ts'
import { createTokenColumns } from '../../app/token-columns.tsx'
import { useSearchText } from '../../app/use-search-text.ts'
import { useSystemMay } from '../../app/use-system-may.ts'
import { type Filter, meTokensDocument } from '../../generated/documents.ts'
import { Button } from '../../kit/button.tsx'
import { DataTable } from '../../kit/data-table.tsx'
import { SearchField, Select } from '../../kit/form.tsx'
import { FailureState, Skeleton, State } from '../../kit/state.tsx'
import { useText } from '../../texts/language.tsx'

type TokensTabProps = { list: ListSearch; onCreate: () => void }

const states = ['any', 'valid', 'revoked'] as const

function createFilters({ search }: ListSearch): readonly Filter[] {
  const { q, status } = search
  return [
    ...(q === undefined ? [] : [{ field: 'name', value: q }]),
    ...(status === 'valid' || status === 'revoked'
      ? [{ field: 'revoked', value: String(status === 'revoked') }]
      : []),
  ]
}

export function TokensTab({ list, onCreate }: TokensTabProps): ReactNode {
  const t = useText()
  const columns = useMemo(() => createTokenColumns(t), [t])
  const filters = createFilters(list)
  const { data, error, refetch } = useRead(
    meTokensDocument,
    {
      filters,
      order: [list.sort ?? { field: 'createdAt', direction: 'DESC' }],
      pagination: { limit: list.size, offset: (list.page - 1) * list.size },
    },
    { keepsPrevious: true },
  )
  const result = data?.tokens
  return (
    <>
      <div className="page-filters">
        <Filters list={list} />
      </div>
      <DataTable
        label={t('me.tab.tokens')}
        columns={columns}
        rows={result?.nodes ?? []}
        sort={list.sort}
        onSort={list.setSort}
        openId={list.open}
        onOpen={(id) => list.setOpen(id, { tab: 'tokens' })}
        placeholder={
          result === undefined ? (
            error === null ? (
              <Skeleton />
            ) : (
              <FailureState failure={describeFailure(error)} onRetry={() => void refetch()} />
            )
          ) : (
            <NoTokens isFiltered={filters.length > 0} list={list} onCreate={onCreate} />
          )
        }
      />
      {result !== undefined && (
        <footer className="page-foot">
          <ListPager list={list} result={result} />
        </footer>
      )}
    </>
  )
}

function Filters({ list }: { list: ListSearch }): ReactNode {
  const t = useText()
  const [text, setText] = useSearchText(list)
  return (
    <>
      <SearchField label={t('me.searchTokens')} value={text} onChange={setText} />
      <Select
        label={t('token.status')}
        isChip
        value={states.find((id) => id === list.search['status']) ?? 'any'}
        options={states.map((id) => ({ id, text: t(`me.show.${id}`) }))}
        onChange={(status) => list.setFilter({ status: status === 'any' ? undefined : status })}
      />
    </>
  )
}

function NoTokens({ isFiltered, list, onCreate }: TokensTabProps & { isFiltered: boolean }): ReactNode {
  const t = useText()
  const mayCreate = useSystemMay('tokens.create')
  if (isFiltered || list.page > 1)
    return (
      <State
        icon="search"
        title={t('token.noMatch')}
        actions={
          <Button onPress={() => list.setFilter({ q: undefined, status: undefined })}>
            {t('app.clearFilters')}
          </Button>
        }
      >
        {t('me.noTokenMatchHint')}
      </State>
    )
  return (
    <State
      icon="key"
      title={t('me.noTokens')}
      actions={
        mayCreate && (
          <Button icon="add" action="tokens.create" onPress={onCreate}>
            {t('me.newToken')}
          </Button>
        )
      }
    >
      {t('me.noTokensHint')}
    </State>
  )
}
