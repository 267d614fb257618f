// The access matrix: which tenants use which applications. Changes are marked, previewed and then applied.
import { type ReactNode, useMemo, useRef, useState } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { useApplicationNames } from '../../app/applications.ts'
import { LeaveGuard } from '../../app/leave-guard.tsx'
import { ListPager } from '../../app/list-pager.tsx'
import { type ListSearch, useListSearch } from '../../app/list-search.ts'
import { useCan, useMay, useProject } from '../../app/project.tsx'
import { tenantListDocument } from '../../generated/documents.ts'
import { Button } from '../../kit/button.tsx'
import { Page } from '../../kit/page.tsx'
import { FailureState, Skeleton, State } from '../../kit/state.tsx'
import { useText } from '../../texts/language.tsx'
import { type AccessTenant, useAccessRows, useTenantTotals } from './access-data.ts'
import { AccessFilters } from './access-filters.tsx'
import { AccessGrid } from './access-grid.tsx'
import { AccessLegend } from './access-legend.tsx'
import { useMarks } from './access-marks.ts'
import { AccessPreview } from './access-preview.tsx'
import { selectTenants } from './select-tenants.ts'
import { useApply } from './use-apply.ts'

const noTenants: readonly AccessTenant[] = []
const narrowScreen = '(max-width: 639px)'

export function AccessPage(): ReactNode {
  const t = useText()
  return useCan('TENANT2APPLICATION_READ') ? (
    <Matrix />
  ) : (
    <Page title={t('section.access')}>
      <State icon="lock" title={t('access.noAccess')}>
        {t('access.noAccessHint')}
      </State>
    </Page>
  )
}

function useMatrix(list: ListSearch) {
  const { slug } = useProject()
  const { search, page, size } = list
  const text = search['q'] ?? ''
  const tenants = useRead(
    tenantListDocument,
    {
      project: slug,
      filters: text === '' ? [] : [{ field: 'name', value: text }],
      order: [{ field: 'name', direction: 'ASC' }],
      pagination: { limit: size, offset: (page - 1) * size },
    },
    { keepsPrevious: true },
  )
  const names = useApplicationNames()
  const result = tenants.data?.tenantsConnection
  const rows = useAccessRows(result?.nodes ?? noTenants, names.data?.rows.length)
  const wanted = search['application']
  const applications = useMemo(() => {
    const all = names.data?.rows ?? []
    const chosen = all.filter(({ id }) => id === wanted)
    return chosen.length === 0 ? all : chosen
  }, [names.data, wanted])
  return {
    result,
    applications,
    names: names.data,
    rows: rows.rows,
    error: tenants.error ?? names.error ?? rows.error,
    refetch: () => {
      void tenants.refetch()
      void names.refetch()
      rows.refetch()
    },
  }
}

function Matrix(): ReactNode {
  const t = useText()
  const list = useListSearch()
  const { result, applications, names, rows, error, refetch } = useMatrix(list)
  const totals = useTenantTotals(applications)
  const marks = useMarks()
  const apply = useApply(marks)
  const grid = useRef<HTMLTableElement>(null)
  const canChange = useMay('access.change')
  const [isHidden, setHidden] = useState(() => matchMedia(narrowScreen).matches)
  const shown = useMemo(
    () =>
      selectTenants(list.search['show'], { tenants: result?.nodes ?? noTenants, applications, rows, marks }),
    [list.search, result, applications, rows, marks],
  )
  const count = marks.list.length
  return (
    <Page
      title={t('section.access')}
      isEdgeToEdge
      note={
        result !== undefined &&
        names !== undefined &&
        t('access.size', result.totalCount, names.rows.length, result.isTotalExact)
      }
      actions={
        count > 0 &&
        isHidden && (
          <Button variant="primary" onPress={() => setHidden(false)}>
            {t('access.review', count)}
          </Button>
        )
      }
      filters={<AccessFilters list={list} applications={names?.rows ?? []} />}
      foot={
        result !== undefined && (
          <>
            <AccessLegend canChange={canChange} />
            <ListPager list={list} result={result} />
          </>
        )
      }
      panel={
        count > 0 &&
        !isHidden && <AccessPreview marks={marks} apply={apply} grid={grid} onClose={() => setHidden(true)} />
      }
    >
      {error !== null ? (
        <FailureState failure={describeFailure(error)} onRetry={refetch} />
      ) : result === undefined || names === undefined ? (
        <div className="access-waiting">
          <Skeleton rows={12} />
        </div>
      ) : shown.length === 0 || applications.length === 0 ? (
        <NoRows list={list} hasApplications={applications.length > 0} total={result.totalCount} />
      ) : (
        <AccessGrid
          grid={grid}
          tenants={shown}
          applications={applications}
          totals={totals}
          rows={rows}
          marks={marks}
          canChange={canChange && apply.progress === null}
        />
      )}
      <LeaveGuard isDirty={count > 0} title={t('access.leaveTitle')} hint={t('access.leaveHint')} />
    </Page>
  )
}

type NoRowsProps = { list: ListSearch; hasApplications: boolean; total: number }

function NoRows({ list, hasApplications, total }: NoRowsProps): ReactNode {
  const t = useText()
  const isFiltered = list.search['q'] !== undefined || list.search['show'] !== undefined
  if (hasApplications && (isFiltered || total > 0))
    return (
      <State
        icon="search"
        title={t('access.noMatch')}
        actions={
          <Button onPress={() => list.setFilter({ q: undefined, show: undefined, application: undefined })}>
            {t('app.clearFilters')}
          </Button>
        }
      >
        {list.search['show'] === undefined ? t('access.noMatchHint') : t('access.noMatchPage')}
      </State>
    )
  return (
    <State icon="access" title={t('access.empty')}>
      {hasApplications ? t('access.emptyTenants') : t('access.emptyApplications')}
    </State>
  )
}
