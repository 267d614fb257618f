// The rows of one evidence query in a time range, with the verdict on the audit trail in the same snapshot.
import { Link } from '@tanstack/react-router'
import { type ReactNode, useMemo, useState } from 'react'
import { TooLargeError } from '../../api/large-body.ts'
import { describeFailure } from '../../api/failures.ts'
import { ListPager } from '../../app/list-pager.tsx'
import { type ListSearch, useListSearch } from '../../app/list-search.ts'
import { useDownload } from '../../app/use-download.ts'
import { useSearchText } from '../../app/use-search-text.ts'
import { Button } from '../../kit/button.tsx'
import { DataTable } from '../../kit/data-table.tsx'
import { SearchField } from '../../kit/form.tsx'
import { Note } from '../../kit/note.tsx'
import { Page } from '../../kit/page.tsx'
import { FailureState, Skeleton, State } from '../../kit/state.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { RangeFilter } from '../../app/range-filter.tsx'
import { readTimeRange } from '../../app/time-range.ts'
import {
  type EvidenceRun,
  type EvidenceWindow,
  toRunPath,
  useEvidenceQueries,
  useEvidenceRun,
} from './evidence.ts'
import { searchRows, toRowId } from './evidence-columns.ts'
import { RowPanel } from './row-panel.tsx'
import { RunPrint } from './run-print.tsx'
import { type RunRow, useRunColumns } from './run-columns.tsx'
import { VerdictNote } from './verdict-note.tsx'

const noRows: readonly RunRow[] = []

/** Returns the title of a query; until the list of queries arrives, its name. */
function useQueryTitle(name: string): { title: string; description: string } {
  const { data } = useEvidenceQueries()
  const { title = name, description = '' } = data?.find((query) => query.name === name) ?? {}
  return { title, description: description.replaceAll('`', '') }
}

export function RunPage({ name }: { name: string }): ReactNode {
  const list = useListSearch()
  const { title, description } = useQueryTitle(name)
  // The range must not move while the page is open, because each run is recorded.
  const [now] = useState(Date.now)
  const range = readTimeRange(list.search, now)
  const run = useEvidenceRun(name, range)
  const { data } = run
  const all = useMemo(
    () => data?.rows.map((values, index) => ({ id: toRowId(values, index), values })) ?? noRows,
    [data],
  )
  const text = list.search['q'] ?? ''
  const found = useMemo(() => searchRows(all, text), [all, text])
  if (list.search['print'] !== undefined && data !== undefined)
    return <RunPrint run={data} title={title} description={description} rows={found} list={list} />
  return (
    <RunTable
      name={name}
      title={title}
      description={description}
      list={list}
      found={found}
      range={range}
      run={run}
    />
  )
}

type RunTableProps = {
  name: string
  title: string
  description: string
  list: ListSearch
  found: readonly RunRow[]
  range: EvidenceWindow
  run: ReturnType<typeof useEvidenceRun>
}

function RunTable({ name, title, description, list, found, range, run }: RunTableProps): ReactNode {
  const t = useText()
  const { data, error, refetch } = run
  const start = (list.page - 1) * list.size
  const shown = useMemo(() => found.slice(start, start + list.size), [found, start, list.size])
  const columns = useRunColumns(data)
  return (
    <Page
      title={title}
      isEdgeToEdge
      note={data !== undefined && <span className="numbers">{t('evidence.rows', found.length)}</span>}
      actions={<RunActions name={name} list={list} range={range} run={run} />}
      filters={<RunFilters description={description} list={list} run={data} />}
      foot={
        data !== undefined && (
          <ListPager list={list} result={{ nodes: shown, totalCount: found.length, isTotalExact: true }} />
        )
      }
      panel={
        list.open !== null &&
        data !== undefined && (
          <RowPanel
            key={list.open}
            row={found.find(({ id }) => id === list.open)}
            columns={data.columns}
            ids={shown.map(({ id }) => id)}
            list={list}
          />
        )
      }
    >
      <DataTable
        label={title}
        columns={columns}
        rows={shown}
        rowHeight={48}
        openId={list.open}
        onOpen={list.setOpen}
        placeholder={<NoRows run={data} error={error} list={list} retry={() => void refetch()} />}
      />
    </Page>
  )
}

type RunActionsProps = Pick<RunTableProps, 'name' | 'list' | 'range' | 'run'>

function RunActions({ name, list, range, run }: RunActionsProps): ReactNode {
  const t = useText()
  const download = useDownload()
  return (
    <>
      <Button
        icon="refresh"
        action="evidence.run"
        isPending={run.isFetching}
        onPress={() => void run.refetch()}
      >
        <span className="wide-text">{t('evidence.runAgain')}</span>
      </Button>
      <Button
        icon="download"
        isPending={download.isPending}
        onPress={() => download.run(toRunPath(name, range, 'csv'), `evidence-${name}.csv`)}
      >
        <span className="wide-text">{t('app.exportCsv')}</span>
      </Button>
      <Button
        icon="list"
        disabledReason={run.data === undefined ? t('kit.loading') : null}
        onPress={() => list.setOpen(null, { print: '1' })}
      >
        <span className="wide-text">{t('app.printView')}</span>
      </Button>
    </>
  )
}

type RunFiltersProps = Pick<RunTableProps, 'description' | 'list'> & { run: EvidenceRun | undefined }

function RunFilters({ description, list, run }: RunFiltersProps): ReactNode {
  const t = useText()
  const { number } = useFormat()
  return (
    <>
      <div className="evidence-about">
        <Link to="/system/evidence" className="button" data-variant="default" data-size="small">
          {t('evidence.allQueries')}
        </Link>
        <p className="evidence-hint">{description}</p>
      </div>
      {run !== undefined && <VerdictNote chain={run.chain} />}
      {run?.truncated === true && (
        <div className="evidence-note">
          <Note tone="warn">{t('evidence.truncated', number(run.rows.length))}</Note>
        </div>
      )}
      <RunSearch list={list} />
      <RangeFilter list={list} anyText={t('evidence.defaultWindow')} />
    </>
  )
}

function RunSearch({ list }: { list: ListSearch }): ReactNode {
  const t = useText()
  const [text, setText] = useSearchText(list)
  return <SearchField label={t('evidence.searchRows')} value={text} onChange={setText} />
}

type NoRowsProps = { run: EvidenceRun | undefined; error: Error | null; list: ListSearch; retry: () => void }

function NoRows({ run, error, list, retry }: NoRowsProps): ReactNode {
  const t = useText()
  if (run === undefined && error instanceof TooLargeError)
    return (
      <State icon="warning" title={t('evidence.tooLarge')}>
        {t('evidence.tooLargeHint')}
      </State>
    )
  if (run === undefined && error !== null)
    return <FailureState failure={describeFailure(error)} onRetry={retry} />
  if (run === undefined) return <Skeleton rows={12} />
  if (run.rows.length === 0)
    return (
      <State icon="audit" title={t('evidence.noRows')}>
        {t('evidence.noRowsHint')}
      </State>
    )
  return (
    <State
      icon="search"
      title={t('evidence.noMatch')}
      actions={<Button onPress={() => list.setFilter({ q: undefined })}>{t('app.clearFilters')}</Button>}
    >
      {t('evidence.noMatchHint')}
    </State>
  )
}
