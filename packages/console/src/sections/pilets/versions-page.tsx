// The versions of all pilets of the project, and the open version beside the list.
import type { ReactNode } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { ExportButton } from '../../app/export-button.tsx'
import { ListPager } from '../../app/list-pager.tsx'
import { type ListSearch, useListSearch } from '../../app/list-search.ts'
import { useProject } from '../../app/project.tsx'
import { useSearchText } from '../../app/use-search-text.ts'
import { type Order, piletListDocument, piletPagesDocument } from '../../generated/documents.ts'
import { Button } from '../../kit/button.tsx'
import { DataTable } from '../../kit/data-table.tsx'
import { SearchField, Select } from '../../kit/form.tsx'
import { Page } from '../../kit/page.tsx'
import { FailureState, Skeleton, State } from '../../kit/state.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { usePiletColumns } from './pilet-columns.tsx'
import { createFilters, readStatus } from './pilet-filters.ts'
import { PiletPanel } from './pilet-panel.tsx'
import type { PiletVersion } from './pilet-types.ts'

const noRows: readonly PiletVersion[] = []
const defaultSort = { field: 'name', direction: 'ASC' } as const
/** The newest version of a pilet comes first. */
const newestFirst: Order = { field: 'version', direction: 'DESC' }

/** Reads the page of versions that the address selects. */
function useVersions({ search, sort, page, size }: ListSearch) {
  const { id } = useProject()
  const filters = createFilters(search)
  const shownSort = sort ?? defaultSort
  const order = shownSort.field === 'version' ? [shownSort] : [shownSort, newestFirst]
  const read = useRead(
    piletListDocument,
    { project: id, filters, order, pagination: { limit: size, offset: (page - 1) * size } },
    { keepsPrevious: true },
  )
  return { ...read, result: read.data?.piletPackagesConnection, filters, order, shownSort }
}

type VersionsPageProps = { choice: ReactNode; upload: ReactNode }

export function VersionsPage({ choice, upload }: VersionsPageProps): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const { id: project, slug } = useProject()
  const list = useListSearch()
  const { result, error, refetch, filters, order, shownSort } = useVersions(list)
  const rows = result?.nodes ?? noRows
  return (
    <Page
      title={t('section.pilets')}
      isEdgeToEdge
      note={result !== undefined && <span className="numbers">{number(result.totalCount)}</span>}
      actions={
        <>
          <ExportButton
            fileName={`${slug}-pilets.csv`}
            read={{
              document: piletPagesDocument,
              variables: { project, filters, order },
              select: (exported) => exported.piletPackagesConnection,
            }}
            heads={['id', 'name', 'version', 'description', 'size', 'sha256', 'enabled', 'uploaded']}
            toCells={(row) => [
              row.id,
              row.name,
              row.version,
              row.description,
              row.size,
              row.hash,
              String(row.enabled),
              row.createdAt,
            ]}
          />
          {upload}
        </>
      }
      filters={<Filters list={list} choice={choice} />}
      foot={result !== undefined && <ListPager list={list} result={result} />}
      panel={
        list.open !== null && (
          <PiletPanel key={list.open} id={list.open} ids={rows.map(({ id }) => id)} list={list} />
        )
      }
    >
      <DataTable
        label={t('section.pilets')}
        columns={usePiletColumns(rows)}
        rows={rows}
        sort={shownSort}
        onSort={list.setSort}
        openId={list.open}
        onOpen={list.setOpen}
        placeholder={
          error !== null ? (
            <FailureState failure={describeFailure(error)} onRetry={() => void refetch()} />
          ) : result === undefined ? (
            <Skeleton rows={12} />
          ) : (
            <NoVersions isFiltered={filters.length > 0 || list.page > 1} list={list} upload={upload} />
          )
        }
      />
    </Page>
  )
}

const any = '*'

function Filters({ list, choice }: { list: ListSearch; choice: ReactNode }): ReactNode {
  const t = useText()
  const [text, setText] = useSearchText(list)
  return (
    <>
      {choice}
      <SearchField label={t('pilets.search')} value={text} onChange={setText} />
      <Select
        label={t('pilets.status')}
        isChip
        value={readStatus(list.search) ?? any}
        options={[
          { id: any, text: t('app.any') },
          { id: 'enabled', text: t('pilets.enabled') },
          { id: 'disabled', text: t('pilets.disabled') },
        ]}
        onChange={(status) => list.setFilter({ status: status === any ? undefined : status })}
      />
    </>
  )
}

type NoVersionsProps = { isFiltered: boolean; list: ListSearch; upload: ReactNode }

function NoVersions({ isFiltered, list, upload }: NoVersionsProps): ReactNode {
  const t = useText()
  return isFiltered ? (
    <State
      icon="search"
      title={t('pilets.noMatch')}
      actions={
        <Button onPress={() => list.setFilter({ q: undefined, status: undefined })}>
          {t('app.clearFilters')}
        </Button>
      }
    >
      {t('pilets.noMatchHint')}
    </State>
  ) : (
    <State icon="pilets" title={t('pilets.empty')} actions={upload}>
      {t('pilets.emptyHint')}
    </State>
  )
}
