// The applications of a project.
import { type ReactNode, useState } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { ExportButton } from '../../app/export-button.tsx'
import { ListPager } from '../../app/list-pager.tsx'
import { type ListSearch, useListSearch } from '../../app/list-search.ts'
import { useMay, useProject } from '../../app/project.tsx'
import { useSearchText } from '../../app/use-search-text.ts'
import { applicationExportDocument, applicationListDocument } from '../../generated/documents.ts'
import { Button } from '../../kit/button.tsx'
import { DataTable } from '../../kit/data-table.tsx'
import { SearchField } from '../../kit/form.tsx'
import { Page } from '../../kit/page.tsx'
import { FailureState, Skeleton, State } from '../../kit/state.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { useApplicationColumns } from './application-columns.tsx'
import { ApplicationDialog } from './application-dialog.tsx'
import { ApplicationPanel } from './application-panel.tsx'
import type { ApplicationRow } from './application-types.ts'

const noRows: readonly ApplicationRow[] = []

/** Reads the page of applications that the address selects. */
function useApplicationList({ search, sort, page, size }: ListSearch) {
  const { slug } = useProject()
  const text = search['q'] ?? ''
  const filters = text === '' ? [] : [{ field: 'name', value: text }]
  const order = [sort ?? { field: 'name', direction: 'ASC' as const }]
  const read = useRead(
    applicationListDocument,
    { project: slug, filters, order, pagination: { limit: size, offset: (page - 1) * size } },
    { keepsPrevious: true },
  )
  return { ...read, result: read.data?.applicationsConnection, filters, order, slug }
}

export function ApplicationsPage(): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const list = useListSearch()
  const canCreate = useMay('applications.create')
  const [isCreating, setCreating] = useState(false)
  const { result, error, refetch, filters, order, slug } = useApplicationList(list)
  const rows = result?.nodes ?? noRows
  const create = canCreate && (
    <Button variant="primary" icon="add" action="applications.create" onPress={() => setCreating(true)}>
      {t('applications.new')}
    </Button>
  )
  return (
    <Page
      title={t('section.applications')}
      isEdgeToEdge
      note={result !== undefined && <span className="numbers">{number(result.totalCount)}</span>}
      actions={
        <>
          <ExportButton
            fileName={`${slug}-applications.csv`}
            read={{
              document: applicationExportDocument,
              variables: { project: slug, filters, order },
              select: (exported) => exported.applicationsConnection,
            }}
            heads={['id', 'name', 'slug', 'description', 'changed']}
            toCells={(row) => [row.id, row.name, row.slug, row.description, row.updatedAt]}
          />
          {create}
        </>
      }
      filters={<Search list={list} />}
      foot={result !== undefined && <ListPager list={list} result={result} />}
      panel={
        list.open !== null && (
          <ApplicationPanel key={list.open} id={list.open} ids={rows.map(({ id }) => id)} list={list} />
        )
      }
    >
      <ApplicationTable list={list} rows={rows}>
        {error !== null ? (
          <FailureState failure={describeFailure(error)} onRetry={() => void refetch()} />
        ) : result === undefined ? (
          <Skeleton rows={12} />
        ) : (
          <NoApplications isFiltered={filters.length > 0 || list.page > 1} list={list} create={create} />
        )}
      </ApplicationTable>
      {isCreating && (
        <ApplicationDialog
          application={null}
          onClose={() => setCreating(false)}
          onSaved={(id) => {
            setCreating(false)
            list.setOpen(id)
          }}
        />
      )}
    </Page>
  )
}

type ApplicationTableProps = { list: ListSearch; rows: readonly ApplicationRow[]; children: ReactNode }

function ApplicationTable({ list, rows, children }: ApplicationTableProps): ReactNode {
  const t = useText()
  return (
    <DataTable
      label={t('section.applications')}
      columns={useApplicationColumns(rows)}
      rows={rows}
      sort={list.sort}
      onSort={list.setSort}
      openId={list.open}
      onOpen={list.setOpen}
      placeholder={children}
    />
  )
}

function Search({ list }: { list: ListSearch }): ReactNode {
  const t = useText()
  const [text, setText] = useSearchText(list)
  return <SearchField label={t('applications.search')} value={text} onChange={setText} />
}

type NoApplicationsProps = { isFiltered: boolean; list: ListSearch; create: ReactNode }

function NoApplications({ isFiltered, list, create }: NoApplicationsProps): ReactNode {
  const t = useText()
  return isFiltered ? (
    <State
      icon="search"
      title={t('applications.noMatch')}
      actions={<Button onPress={() => list.setFilter({ q: undefined })}>{t('app.clearFilters')}</Button>}
    >
      {t('applications.noMatchHint')}
    </State>
  ) : (
    <State icon="applications" title={t('applications.empty')} actions={create}>
      {t('applications.emptyHint')}
    </State>
  )
}
