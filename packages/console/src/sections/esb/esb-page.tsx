// The endpoints of a project.
import { type ReactNode, useMemo, useState } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { ListPager } from '../../app/list-pager.tsx'
import { type ListSearch, useListSearch } from '../../app/list-search.ts'
import { useMay } from '../../app/project.tsx'
import { Button } from '../../kit/button.tsx'
import { DataTable } from '../../kit/data-table.tsx'
import { Note } from '../../kit/note.tsx'
import { Page } from '../../kit/page.tsx'
import { FailureState, Skeleton, State } from '../../kit/state.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { useEndpointColumns } from './endpoint-columns.tsx'
import { EndpointDialog } from './endpoint-dialog.tsx'
import { EndpointExport } from './endpoint-export.tsx'
import { EndpointFilters } from './endpoint-filters.tsx'
import { EndpointPanel } from './endpoint-panel.tsx'
import type { EndpointRow } from './endpoint-types.ts'
import { defaultSort, isFiltered, readEndpointFilters, selectEndpoints } from './select-endpoints.ts'
import { type EndpointsRead, maxPerApplication, useEndpoints } from './use-endpoints.ts'

const noRows: readonly EndpointRow[] = []

/** Selects the rows and the page that the address names. */
function useSelection(list: ListSearch, read: EndpointsRead) {
  const { search, sort, page, size } = list
  const selected = useMemo(
    () => selectEndpoints(read.rows ?? noRows, readEndpointFilters(search), sort ?? defaultSort),
    [read.rows, search, sort],
  )
  const nodes = useMemo(() => selected.slice((page - 1) * size, page * size), [selected, page, size])
  return { selected, nodes }
}

export function EsbPage(): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const list = useListSearch()
  const application = list.search['application'] ?? null
  const read = useEndpoints(application)
  const { selected, nodes } = useSelection(list, read)
  const canCreate = useMay('esb.create')
  const [isCreating, setCreating] = useState(false)
  const isRead = read.rows !== undefined
  const create = canCreate && (
    <Button variant="primary" icon="add" action="esb.create" onPress={() => setCreating(true)}>
      {t('esb.new')}
    </Button>
  )
  return (
    <Page
      title={t('section.esb')}
      isEdgeToEdge
      note={isRead && <span className="numbers">{number(selected.length)}</span>}
      actions={
        <>
          <EndpointExport rows={selected} />
          {create}
        </>
      }
      filters={
        <>
          <EndpointFilters list={list} applications={read.applications} />
          {!read.isComplete && <Note tone="info">{t('esb.isPartial', number(maxPerApplication))}</Note>}
        </>
      }
      foot={
        isRead && (
          <ListPager list={list} result={{ nodes, totalCount: selected.length, isTotalExact: true }} />
        )
      }
      panel={
        list.open !== null && (
          <EndpointPanel
            key={list.open}
            id={list.open}
            applicationId={read.rows?.find(({ id }) => id === list.open)?.application.id}
            ids={nodes.map(({ id }) => id)}
            list={list}
          />
        )
      }
    >
      <DataTable
        label={t('section.esb')}
        columns={useEndpointColumns(application === null)}
        rows={nodes}
        sort={list.sort ?? defaultSort}
        onSort={list.setSort}
        openId={list.open}
        onOpen={list.setOpen}
        placeholder={<Placeholder list={list} read={read} create={create} />}
      />
      {isCreating && (
        <EndpointDialog
          endpoint={null}
          applicationId={application}
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

type PlaceholderProps = { list: ListSearch; read: EndpointsRead; create: ReactNode }

/** Shown instead of rows: a failure, loading, or why there are none. */
function Placeholder({ list, read, create }: PlaceholderProps): ReactNode {
  const t = useText()
  if (read.error !== null)
    return <FailureState failure={describeFailure(read.error)} onRetry={read.refetch} />
  if (read.rows === undefined) return <Skeleton rows={12} />
  const isAll = list.search['application'] === undefined
  if (isAll && !isFiltered(readEndpointFilters(list.search)) && list.page === 1)
    return (
      <State icon="esb" title={t('esb.empty')} actions={create}>
        {t('esb.emptyHint')}
      </State>
    )
  return (
    <State
      icon="search"
      title={t('esb.noMatch')}
      actions={
        <Button onPress={() => list.setFilter({ q: undefined, status: undefined, application: undefined })}>
          {t('app.clearFilters')}
        </Button>
      }
    >
      {t('esb.noMatchHint')}
    </State>
  )
}
