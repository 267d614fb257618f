// The deployments of a project: one for each application and environment.
import type { ReactNode } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { ExportRows } from '../../app/export-button.tsx'
import { ListPager } from '../../app/list-pager.tsx'
import { type ListSearch, useListSearch } from '../../app/list-search.ts'
import { useProject } from '../../app/project.tsx'
import { useSearchText } from '../../app/use-search-text.ts'
import { Button } from '../../kit/button.tsx'
import { DataTable } from '../../kit/data-table.tsx'
import { SearchField } from '../../kit/form.tsx'
import { Page } from '../../kit/page.tsx'
import { FailureNote, FailureState, Skeleton, State } from '../../kit/state.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { useDeploymentColumns } from './deployment-columns.tsx'
import { DeploymentPanel } from './deployment-panel.tsx'
import { type DeploymentRow, summarizeBackends } from './deployment-rows.ts'
import { defaultOrder, useDeploymentList } from './use-deployment-list.ts'

const noRows: readonly DeploymentRow[] = []

export function DeploymentsPage(): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const list = useListSearch()
  const read = useDeploymentList(list)
  const { result, valuesError } = read
  const rows = result?.nodes ?? noRows
  return (
    <Page
      title={t('section.deployments')}
      isEdgeToEdge
      note={result !== undefined && <span className="numbers">{number(result.totalCount)}</span>}
      actions={<Export read={read} />}
      filters={<Search list={list} />}
      foot={result !== undefined && <ListPager list={list} result={result} />}
      panel={
        list.open !== null && (
          <DeploymentPanel key={list.open} id={list.open} ids={rows.map(({ id }) => id)} list={list} />
        )
      }
    >
      {valuesError !== null && (
        <div className="deployments-note">
          <FailureNote failure={describeFailure(valuesError)} onRetry={read.refetch} />
        </div>
      )}
      <DataTable
        label={t('section.deployments')}
        columns={useDeploymentColumns(valuesError !== null)}
        rows={rows}
        sort={list.sort ?? defaultOrder}
        onSort={list.setSort}
        openId={list.open}
        onOpen={list.setOpen}
        placeholder={<Placeholder list={list} read={read} />}
      />
    </Page>
  )
}

function Export({ read }: { read: ReturnType<typeof useDeploymentList> }): ReactNode {
  const { slug } = useProject()
  return (
    <ExportRows
      fileName={`${slug}-deployments.csv`}
      readRows={read.readAll}
      heads={[
        'application id',
        'application',
        'environment',
        'registered backends',
        'live backends',
        'oldest live heartbeat',
        'workload',
        'version',
        'minimum replicas',
        'maximum replicas',
        'scale to zero',
      ]}
      toCells={toCells}
    />
  )
}

function toCells({ application, environment, values }: DeploymentRow): readonly (string | number)[] {
  const { specification = null, backends } = values ?? {}
  const summary = backends === undefined ? null : summarizeBackends(backends, false)
  return [
    application.id,
    application.name,
    environment.name,
    summary?.total ?? '',
    summary === null || !summary.isComplete ? '' : summary.live,
    summary?.oldestHeartbeat ?? '',
    specification?.workload ?? '',
    specification?.version ?? '',
    specification?.minReplicas ?? '',
    specification?.maxReplicas ?? '',
    specification === null ? '' : String(specification.scaleToZero),
  ]
}

function Search({ list }: { list: ListSearch }): ReactNode {
  const t = useText()
  const [text, setText] = useSearchText(list)
  return <SearchField label={t('deployments.search')} value={text} onChange={setText} />
}

type PlaceholderProps = { list: ListSearch; read: ReturnType<typeof useDeploymentList> }

/** Shown instead of rows: a failure, loading, or why there are none. */
function Placeholder({ list, read }: PlaceholderProps): ReactNode {
  const t = useText()
  const { result, error, refetch, isFiltered } = read
  if (error !== null) return <FailureState failure={describeFailure(error)} onRetry={refetch} />
  if (result === undefined) return <Skeleton rows={12} />
  return isFiltered || list.page > 1 ? (
    <State
      icon="search"
      title={t('deployments.noMatch')}
      actions={<Button onPress={() => list.setFilter({ q: undefined })}>{t('app.clearFilters')}</Button>}
    >
      {t('deployments.noMatchHint')}
    </State>
  ) : (
    <State icon="deployments" title={t('deployments.empty')}>
      {t('deployments.emptyHint')}
    </State>
  )
}
