// The list of evidence queries.
import { type ReactNode, useMemo } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { type ListSearch, useListSearch } from '../../app/list-search.ts'
import { useSearchText } from '../../app/use-search-text.ts'
import { Button } from '../../kit/button.tsx'
import { type DataColumn, DataTable, TwoLines } from '../../kit/data-table.tsx'
import { SearchField } from '../../kit/form.tsx'
import { Page } from '../../kit/page.tsx'
import { FailureState, Skeleton, State } from '../../kit/state.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { type EvidenceQuery, useEvidenceQueries } from './evidence.ts'
import { TrailExport } from './trail-export.tsx'

type Row = EvidenceQuery & { readonly id: string }

const matches = ({ name, title, description, controls }: EvidenceQuery, text: string): boolean =>
  [name, title, description, ...controls].some((part) => part.toLowerCase().includes(text))

export function QueriesPage({ choice }: { choice: ReactNode }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const list = useListSearch()
  const { data, error, refetch } = useEvidenceQueries()
  const text = (list.search['q'] ?? '').toLowerCase()
  const rows = useMemo(
    () => (data ?? []).filter((query) => matches(query, text)).map((query) => ({ ...query, id: query.name })),
    [data, text],
  )
  return (
    <Page
      title={t('section.evidence')}
      isEdgeToEdge
      note={data !== undefined && <span className="numbers">{number(rows.length)}</span>}
      actions={<TrailExport />}
      filters={
        <>
          {choice}
          <QuerySearch list={list} />
          <p className="evidence-hint">{t('evidence.recorded')}</p>
        </>
      }
    >
      <DataTable
        label={t('evidence.queries')}
        columns={useColumns()}
        rows={rows}
        rowHeight={48}
        onOpen={(query) => list.setOpen(null, { query, q: undefined, page: undefined })}
        placeholder={
          data === undefined ? (
            error === null ? (
              <Skeleton rows={12} />
            ) : (
              <FailureState failure={describeFailure(error)} onRetry={() => void refetch()} />
            )
          ) : (
            <State
              icon="search"
              title={t('evidence.noQuery')}
              actions={
                <Button onPress={() => list.setFilter({ q: undefined })}>{t('app.clearFilters')}</Button>
              }
            >
              {t('evidence.noQueryHint')}
            </State>
          )
        }
      />
    </Page>
  )
}

function QuerySearch({ list }: { list: ListSearch }): ReactNode {
  const t = useText()
  const [text, setText] = useSearchText(list)
  return <SearchField label={t('evidence.searchQueries')} value={text} onChange={setText} />
}

function useColumns(): readonly DataColumn<Row>[] {
  const t = useText()
  return useMemo(
    () => [
      {
        id: 'query',
        title: t('evidence.query'),
        width: '3fr',
        minWidth: 240,
        isRowHeader: true,
        priority: 1,
        render: ({ title, description }) => (
          <span className="evidence-query" title={description}>
            <TwoLines first={title} second={description.replaceAll('`', '')} />
          </span>
        ),
      },
      {
        id: 'controls',
        title: t('evidence.controls'),
        width: '2fr',
        minWidth: 240,
        priority: 3,
        render: ({ controls }) => (
          <span className="truncate" title={controls.join(', ')}>
            {controls.join(', ')}
          </span>
        ),
      },
      {
        id: 'name',
        title: t('evidence.name'),
        width: 208,
        minWidth: 208,
        priority: 3,
        render: ({ name }) => <code className="truncate">{name}</code>,
      },
    ],
    [t],
  )
}
