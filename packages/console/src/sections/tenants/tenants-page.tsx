// The tenants of a project.
import type { ReactNode } from 'react'
import { useState } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { ListPager } from '../../app/list-pager.tsx'
import { type ListSearch, useListSearch } from '../../app/list-search.ts'
import { useMay, useProject } from '../../app/project.tsx'
import { useSearchText } from '../../app/use-search-text.ts'
import { type Filter, type TenantListResult, tenantListDocument } from '../../generated/documents.ts'
import { Button } from '../../kit/button.tsx'
import { DataTable } from '../../kit/data-table.tsx'
import { SearchField, Select } from '../../kit/form.tsx'
import { Page } from '../../kit/page.tsx'
import { FailureState, Skeleton, State } from '../../kit/state.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { useTenantColumns } from './tenant-columns.tsx'
import { TenantDialog } from './tenant-dialog.tsx'
import { TenantExport } from './tenant-export.tsx'
import { TenantPanel } from './tenant-panel.tsx'
import { createModeFilter, createTextFilters } from './tenant-filters.ts'

const noRows: TenantListResult['tenantsConnection']['nodes'] = []

export function TenantsPage(): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const list = useListSearch()
  const canCreate = useMay('tenants.create')
  const [isCreating, setCreating] = useState(false)
  const { result, filters, error, refetch } = useTenantList(list)
  const rows = result?.nodes ?? noRows
  const order = [list.sort ?? { field: 'name', direction: 'ASC' as const }]
  const create = canCreate && (
    <Button variant="primary" icon="add" action="tenants.create" onPress={() => setCreating(true)}>
      {t('tenants.new')}
    </Button>
  )
  return (
    <Page
      title={t('section.tenants')}
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
        <>
          <TenantExport filters={filters} order={order} />
          {create}
        </>
      }
      filters={<Filters list={list} />}
      foot={result !== undefined && <ListPager list={list} result={result} />}
      panel={
        list.open !== null && (
          <TenantPanel key={list.open} id={list.open} ids={rows.map(({ id }) => id)} list={list} />
        )
      }
    >
      <TenantTable list={list} rows={rows}>
        {error !== null ? (
          <FailureState failure={describeFailure(error)} onRetry={refetch} />
        ) : result === undefined ? (
          <Skeleton rows={12} />
        ) : (
          <NoTenants isFiltered={filters.length > 0} list={list} create={create} />
        )}
      </TenantTable>
      {isCreating && (
        <TenantDialog
          tenant={null}
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

type TenantTableProps = {
  list: ListSearch
  rows: TenantListResult['tenantsConnection']['nodes']
  /** Shown instead of rows. */
  children: ReactNode
}

function TenantTable({ list, rows, children }: TenantTableProps): ReactNode {
  const t = useText()
  return (
    <DataTable
      label={t('section.tenants')}
      columns={useTenantColumns(rows)}
      rows={rows}
      sort={list.sort}
      onSort={list.setSort}
      openId={list.open}
      onOpen={list.setOpen}
      placeholder={children}
    />
  )
}

/** Reads the page of tenants. The API compares slugs as a whole, so a text that matches no name is tried as a slug. */
function useTenantList({ search, sort, page, size }: ListSearch) {
  const { slug } = useProject()
  const text = search['q'] ?? ''
  const mode = createModeFilter(search['mode'])
  const [byName, bySlug] = createTextFilters(text)
  const variables = (first: readonly Filter[]) => ({
    project: slug,
    filters: [...first, ...mode],
    order: [sort ?? { field: 'name', direction: 'ASC' as const }],
    pagination: { limit: size, offset: (page - 1) * size },
  })
  const names = useRead(tenantListDocument, variables(byName), { keepsPrevious: true })
  const isSlugTried = bySlug !== null && names.data?.tenantsConnection.totalCount === 0
  const slugs = useRead(tenantListDocument, variables(bySlug ?? []), { isEnabled: isSlugTried })
  const used = isSlugTried && slugs.data !== undefined ? slugs : names
  return {
    result: used.data?.tenantsConnection,
    filters: [...(used === slugs && bySlug !== null ? bySlug : byName), ...mode],
    error: names.error ?? slugs.error,
    refetch: () => void names.refetch(),
  }
}

function Filters({ list }: { list: ListSearch }): ReactNode {
  const t = useText()
  const [text, setText] = useSearchText(list)
  return (
    <>
      <SearchField label={t('tenants.search')} value={text} onChange={setText} />
      <Select
        label={t('tenants.mode')}
        isChip
        value={list.search['mode'] ?? 'any'}
        options={[
          { id: 'any', text: t('app.any') },
          { id: 'shared', text: t('tenants.modeShared') },
          { id: 'dedicated', text: t('tenants.modeDedicated') },
        ]}
        onChange={(mode) => list.setFilter({ mode: mode === 'any' ? undefined : mode })}
      />
    </>
  )
}

function NoTenants({
  isFiltered,
  list,
  create,
}: {
  isFiltered: boolean
  list: ListSearch
  create: ReactNode
}): ReactNode {
  const t = useText()
  if (!isFiltered && list.page === 1)
    return (
      <State icon="tenants" title={t('tenants.empty')} actions={create}>
        {t('tenants.emptyHint')}
      </State>
    )
  return (
    <State
      icon="search"
      title={t('tenants.noMatch')}
      actions={
        <Button onPress={() => list.setFilter({ q: undefined, mode: undefined })}>
          {t('app.clearFilters')}
        </Button>
      }
    >
      {t('tenants.noMatchHint')}
    </State>
  )
}
