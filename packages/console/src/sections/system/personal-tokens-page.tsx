// The personal access tokens of all people.
import { Link } from '@tanstack/react-router'
import { type ReactNode, useMemo } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useGrowingRows } from '../../api/growing-rows.ts'
import { ItemActions } from '../../app/item-actions.tsx'
import { ListPager } from '../../app/list-pager.tsx'
import { type ListSearch, useListSearch } from '../../app/list-search.ts'
import { useNow } from '../../app/now.ts'
import { createTokenColumns } from '../../app/token-columns.tsx'
import { TokenPanel } from '../../app/token-panel.tsx'
import type { OwnedToken } from '../../app/token-state.ts'
import { useSearchText } from '../../app/use-search-text.ts'
import { systemExpiringTokensDocument } from '../../generated/documents.ts'
import { Button } from '../../kit/button.tsx'
import { type DataColumn, DataTable } from '../../kit/data-table.tsx'
import { SearchField, Select } from '../../kit/form.tsx'
import { Page } from '../../kit/page.tsx'
import { FailureState, Skeleton, State } from '../../kit/state.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { Translate } from '../../texts/texts.ts'
import { namePerson } from '../../app/person-name.ts'
import { useMe } from '../members/roles.ts'
import { type AllTokens, useAllTokens } from './all-tokens.ts'
import { MoreTokens } from './more-tokens.tsx'
import { PersonCell } from './person-cell.tsx'
import { filterTokens, sortTokens, tokenStatuses } from './select-tokens.ts'
import { TokenExport } from './token-export.tsx'

const periods = ['14', '30', '90', '365'] as const

/** Reads the tokens that expire within the chosen period, which the API lists completely, or all tokens. */
function useTokens({ search }: ListSearch): AllTokens {
  const period = periods.find((days) => days === search['expires'])
  const all = useAllTokens({ isEnabled: period === undefined })
  const expiring = useGrowingRows(
    {
      document: systemExpiringTokensDocument,
      variables: { days: Number(period ?? periods[0]) },
      select: (result) => result.tokens,
    },
    { isEnabled: period !== undefined },
  )
  return period === undefined ? all : { ...expiring, total: undefined }
}

export function PersonalTokensPage({ choice }: { choice: ReactNode }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const now = useNow()
  const list = useListSearch()
  const tokens = useTokens(list)
  const { rows, error, retry } = tokens
  const text = list.search['q'] ?? ''
  const status = tokenStatuses.find((id) => id === list.search['status']) ?? 'any'
  const found = sortTokens(filterTokens(rows ?? [], { text, status }, now), list.sort)
  const start = (list.page - 1) * list.size
  const shown = found.slice(start, start + list.size)
  return (
    <Page
      title={t('section.tokens')}
      isEdgeToEdge
      note={rows !== undefined && <span className="numbers">{number(found.length)}</span>}
      actions={<TokenExport tokens={found} />}
      filters={
        <>
          <Filters list={list} choice={choice} />
          <MoreTokens tokens={tokens} />
        </>
      }
      foot={
        rows !== undefined && (
          <ListPager list={list} result={{ nodes: shown, totalCount: found.length, isTotalExact: true }} />
        )
      }
      panel={
        list.open !== null && (
          <OpenToken key={list.open} list={list} tokens={tokens} ids={shown.map(({ id }) => id)} />
        )
      }
    >
      <TokenTable list={list} rows={shown}>
        {rows === undefined ? (
          error === null ? (
            <Skeleton rows={12} />
          ) : (
            <FailureState failure={describeFailure(error)} onRetry={retry} />
          )
        ) : (
          <NoTokens list={list} />
        )}
      </TokenTable>
    </Page>
  )
}

const createColumns = (t: Translate, ownId: string | null): readonly DataColumn<OwnedToken>[] => {
  const [name, status, ...times] = createTokenColumns(t)
  const person: DataColumn<OwnedToken> = {
    id: 'person',
    title: t('members.person'),
    sortField: 'person',
    width: '2fr',
    minWidth: 160,
    priority: 1,
    render: ({ user }) => <PersonCell user={user} isSelf={user.id === ownId} />,
  }
  return [name, person, { ...status, priority: 2 }, ...times] as readonly DataColumn<OwnedToken>[]
}

type TokenTableProps = { list: ListSearch; rows: readonly OwnedToken[]; children: ReactNode }

function TokenTable({ list, rows, children }: TokenTableProps): ReactNode {
  const t = useText()
  const { id } = useMe()
  const columns = useMemo(() => createColumns(t, id), [t, id])
  return (
    <DataTable
      label={t('system.tokens.personal')}
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
  const setSelected =
    (name: 'expires' | 'status') =>
    (id: string): void =>
      list.setFilter({ [name]: id === 'any' ? undefined : id })
  return (
    <>
      {choice}
      <SearchField label={t('system.searchTokens')} value={text} onChange={setText} />
      <Select
        label={t('token.status')}
        isChip
        value={tokenStatuses.find((id) => id === list.search['status']) ?? 'any'}
        options={tokenStatuses.map((id) => ({ id, text: t(`system.tokenStatus.${id}`) }))}
        onChange={setSelected('status')}
      />
      <Select
        label={t('token.expires')}
        isChip
        value={periods.find((days) => days === list.search['expires']) ?? 'any'}
        options={[
          { id: 'any', text: t('system.expiresAny') },
          ...periods.map((days) => ({ id: days, text: t('system.expiresWithin', Number(days)) })),
        ]}
        onChange={setSelected('expires')}
      />
    </>
  )
}

function NoTokens({ list }: { list: ListSearch }): ReactNode {
  const t = useText()
  const isFiltered = ['q', 'status', 'expires'].some((name) => list.search[name] !== undefined)
  if (!isFiltered && list.page === 1)
    return (
      <State icon="key" title={t('system.noTokens')}>
        {t('system.noTokensHint')}
      </State>
    )
  return (
    <State
      icon="search"
      title={t('token.noMatch')}
      actions={
        <Button onPress={() => list.setFilter({ q: undefined, status: undefined, expires: undefined })}>
          {t('app.clearFilters')}
        </Button>
      }
    >
      {t('system.noTokenMatchHint')}
    </State>
  )
}

type OpenTokenProps = { list: ListSearch; tokens: AllTokens; ids: readonly string[] }

function OpenToken({ list, tokens, ids }: OpenTokenProps): ReactNode {
  const t = useText()
  const openId = list.open ?? ''
  const token = tokens.rows?.find(({ id }) => id === openId) ?? null
  return (
    <TokenPanel
      token={token}
      facts={token === null ? [] : [{ label: t('members.person'), value: <Owner user={token.user} /> }]}
      actions={<ItemActions ids={ids} openId={openId} onOpen={list.setOpen} />}
      onClose={() => list.setOpen(null)}
    >
      {tokens.rows === undefined ? (
        <Skeleton />
      ) : (
        <State icon="key" title={t('token.notFound')}>
          {tokens.hasMore ? t('system.tokenNotRead') : t('token.notFoundHint')}
        </State>
      )}
    </TokenPanel>
  )
}

const Owner = ({ user }: { user: OwnedToken['user'] }): ReactNode => (
  <Link to="/system/users" search={{ open: user.id, tab: 'tokens' } as never} title={user.externalEmail}>
    {namePerson(user)}
  </Link>
)
