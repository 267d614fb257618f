// The triggers of a project or of one application. The runs of a trigger have their own view.
import './triggers.css'
import { type ReactNode, useState } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { ListPager } from '../../app/list-pager.tsx'
import { type ListSearch, useListSearch } from '../../app/list-search.ts'
import { useCan, useMay } from '../../app/project.tsx'
import { Button } from '../../kit/button.tsx'
import { DataTable } from '../../kit/data-table.tsx'
import { Note } from '../../kit/note.tsx'
import { Page } from '../../kit/page.tsx'
import { FailureState, Skeleton, State } from '../../kit/state.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { TriggerRuns } from './runs-page.tsx'
import { useTriggerColumns } from './trigger-columns.tsx'
import { TriggerDialog } from './trigger-dialog.tsx'
import { TriggerFilters } from './trigger-filters.tsx'
import { TriggerPanel } from './trigger-panel.tsx'
import { defaultSort } from './trigger-rows.ts'
import type { TriggerRow } from './trigger-types.ts'
import { useTriggerList } from './use-trigger-list.ts'
import { useTriggerStates } from './use-trigger-states.ts'

const noRows: readonly TriggerRow[] = []

export function TriggersPage(): ReactNode {
  const t = useText()
  const list = useListSearch()
  const canRead = useCan('TRIGGER_READ')
  if (!canRead)
    return (
      <Page title={t('section.triggers')}>
        <State icon="lock" title={t('failure.notFound')}>
          {t('failure.notFoundHint')}
        </State>
      </Page>
    )
  // A link to a run, such as a search hit, opens the view of the runs.
  const showsRuns = list.search['view'] === 'runs' || list.search['run'] !== undefined
  return list.open !== null && showsRuns ? (
    <TriggerRuns key={list.open} id={list.open} list={list} />
  ) : (
    <Triggers list={list} />
  )
}

function Triggers({ list }: { list: ListSearch }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const canCreate = useMay('triggers.create')
  const [isCreating, setCreating] = useState(false)
  const read = useTriggerList(list)
  const rows = read.rows ?? noRows
  const create = canCreate && (
    <Button variant="primary" icon="add" action="triggers.create" onPress={() => setCreating(true)}>
      {t('triggers.new')}
    </Button>
  )
  return (
    <Page
      title={t('section.triggers')}
      isEdgeToEdge
      note={read.rows !== undefined && <span className="numbers">{number(read.selected.length)}</span>}
      actions={create}
      filters={
        <>
          <TriggerFilters list={list} />
          {!read.isComplete && <Note tone="info">{t('triggers.incomplete')}</Note>}
        </>
      }
      foot={
        read.rows !== undefined && (
          <ListPager
            list={list}
            result={{ nodes: rows, totalCount: read.selected.length, isTotalExact: true }}
          />
        )
      }
      panel={
        list.open !== null && (
          <TriggerPanel key={list.open} id={list.open} ids={read.selected.map(({ id }) => id)} list={list} />
        )
      }
    >
      <DataTable
        label={t('section.triggers')}
        columns={useTriggerColumns(useTriggerStates(rows))}
        rows={rows}
        sort={list.sort ?? defaultSort}
        onSort={list.setSort}
        openId={list.open}
        onOpen={list.setOpen}
        placeholder={<Placeholder list={list} read={read} create={create} />}
      />
      {isCreating && (
        <TriggerDialog
          trigger={null}
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

type PlaceholderProps = { list: ListSearch; read: ReturnType<typeof useTriggerList>; create: ReactNode }

/** Shown instead of rows: a failure, loading, or why there are none. */
function Placeholder({ list, read, create }: PlaceholderProps): ReactNode {
  const t = useText()
  if (read.error !== null)
    return <FailureState failure={describeFailure(read.error)} onRetry={read.refetch} />
  if (read.rows === undefined) return <Skeleton rows={12} />
  if (!read.isFiltered && list.page === 1)
    return (
      <State icon="triggers" title={t('triggers.empty')} actions={read.hasApplications && create}>
        {read.hasApplications ? t('triggers.emptyHint') : t('triggers.noApplications')}
      </State>
    )
  return (
    <State
      icon="search"
      title={t('triggers.noMatch')}
      actions={
        <Button onPress={() => list.setFilter({ q: undefined, application: undefined, status: undefined })}>
          {t('app.clearFilters')}
        </Button>
      }
    >
      {t('triggers.noMatchHint')}
    </State>
  )
}
