// The tokens with which identity providers call the Manager.
import { type ReactNode, useMemo, useState } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { ListPager } from '../../app/list-pager.tsx'
import { type ListSearch, useListSearch } from '../../app/list-search.ts'
import { namePerson } from '../../app/person-name.ts'
import { createTokenColumns } from '../../app/token-columns.tsx'
import { useSearchText } from '../../app/use-search-text.ts'
import { useSystemMay } from '../../app/use-system-may.ts'
import { provisioningTokensDocument } from '../../generated/documents.ts'
import { Button } from '../../kit/button.tsx'
import { type DataColumn, DataTable, TwoLines } from '../../kit/data-table.tsx'
import { SearchField } from '../../kit/form.tsx'
import { Page } from '../../kit/page.tsx'
import { FailureState, Skeleton, State } from '../../kit/state.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { Translate } from '../../texts/texts.ts'
import { CreateScimToken } from './create-scim-token.tsx'
import { ScimAddress } from './scim-address.tsx'
import { type ListedToken, formatScimPrefix, toListedToken } from './scim-token.ts'
import { ScimTokenPanel } from './scim-token-panel.tsx'

function useTokens({ search, sort, page, size }: ListSearch) {
  const text = search['q'] ?? ''
  const { data, error, refetch } = useRead(
    provisioningTokensDocument,
    {
      filters: text === '' ? [] : [{ field: 'name', value: text }],
      order: [sort ?? { field: 'createdAt', direction: 'DESC' }],
      pagination: { limit: size, offset: (page - 1) * size },
    },
    { keepsPrevious: true },
  )
  const result = data?.tokens
  const rows = useMemo(() => (result?.nodes ?? []).map(toListedToken), [result])
  return { result, rows, error, retry: () => void refetch() }
}

export function ScimTokensPage({ choice }: { choice: ReactNode }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const list = useListSearch()
  const [text, setText] = useSearchText(list)
  const [isCreating, setCreating] = useState(false)
  const { result, rows, error, retry } = useTokens(list)
  const columns = useMemo(() => createColumns(t), [t])
  const create = (): void => setCreating(true)
  return (
    <Page
      title={t('section.provisioning')}
      isEdgeToEdge
      note={result !== undefined && <span className="numbers">{number(result.totalCount)}</span>}
      actions={<CreateButton isPrimary onPress={create} />}
      filters={
        <>
          {choice}
          <SearchField label={t('provisioning.searchTokens')} value={text} onChange={setText} />
          <ScimAddress />
        </>
      }
      foot={result !== undefined && <ListPager list={list} result={result} />}
      panel={
        list.open !== null && (
          <ScimTokenPanel key={list.open} id={list.open} ids={rows.map(({ id }) => id)} list={list} />
        )
      }
    >
      <DataTable
        label={t('provisioning.view.providers')}
        columns={columns}
        rows={rows}
        sort={list.sort}
        onSort={list.setSort}
        openId={list.open}
        onOpen={list.setOpen}
        placeholder={
          result === undefined ? (
            error === null ? (
              <Skeleton rows={8} />
            ) : (
              <FailureState failure={describeFailure(error)} onRetry={retry} />
            )
          ) : (
            <NoTokens list={list} onCreate={create} />
          )
        }
      />
      {isCreating && (
        <CreateScimToken
          onClose={() => setCreating(false)}
          onCreated={(id) => {
            setCreating(false)
            list.setOpen(id)
          }}
        />
      )}
    </Page>
  )
}

function CreateButton({
  isPrimary = false,
  onPress,
}: {
  isPrimary?: boolean
  onPress: () => void
}): ReactNode {
  const t = useText()
  const mayCreate = useSystemMay('provisioning.createToken')
  return (
    mayCreate && (
      <Button
        variant={isPrimary ? 'primary' : 'default'}
        icon="add"
        action="provisioning.createToken"
        onPress={onPress}
      >
        {t('provisioning.newToken')}
      </Button>
    )
  )
}

const createColumns = (t: Translate): readonly DataColumn<ListedToken>[] => {
  const [name, status, ...times] = createTokenColumns(t) as readonly DataColumn<ListedToken>[]
  const creator: DataColumn<ListedToken> = {
    id: 'creator',
    title: t('provisioning.creator'),
    width: '2fr',
    minWidth: 128,
    priority: 3,
    render: ({ creator: person }) => (
      <span className="truncate" title={person.externalEmail}>
        {namePerson(person)}
      </span>
    ),
  }
  return [
    {
      ...(name as DataColumn<ListedToken>),
      render: (token) => <TwoLines first={token.name} second={formatScimPrefix(token)} />,
    },
    status as DataColumn<ListedToken>,
    creator,
    ...times,
  ]
}

function NoTokens({ list, onCreate }: { list: ListSearch; onCreate: () => void }): ReactNode {
  const t = useText()
  if (list.search['q'] === undefined && list.page === 1)
    return (
      <State icon="key" title={t('provisioning.noTokens')} actions={<CreateButton onPress={onCreate} />}>
        {t('provisioning.noTokensHint')}
      </State>
    )
  return (
    <State
      icon="search"
      title={t('token.noMatch')}
      actions={<Button onPress={() => list.setFilter({ q: undefined })}>{t('app.clearFilters')}</Button>}
    >
      {t('provisioning.noMatchHint')}
    </State>
  )
}
