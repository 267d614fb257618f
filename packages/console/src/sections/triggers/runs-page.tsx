// The runs of one trigger: a timeline of all environments, and a list.
import type { ReactNode } from 'react'
import { describeFailure } from '../../api/failures.ts'
import type { ListSearch } from '../../app/list-search.ts'
import { useMay } from '../../app/project.tsx'
import { SteadyRegion, useSteadyRows } from '../../app/steady-rows.tsx'
import { Button } from '../../kit/button.tsx'
import { DataTable } from '../../kit/data-table.tsx'
import { Note } from '../../kit/note.tsx'
import { Page } from '../../kit/page.tsx'
import { Pager } from '../../kit/pager.tsx'
import { FailureState, Skeleton, State } from '../../kit/state.tsx'
import { useText } from '../../texts/language.tsx'
import { closeRuns, showRun } from './run-address.ts'
import { useRunColumns } from './run-columns.tsx'
import { RunFilters } from './run-filters.tsx'
import { RunNow } from './run-now.tsx'
import { RunPanel } from './run-panel.tsx'
import { RunTimeline } from './run-timeline.tsx'
import { EnabledStatus } from './trigger-columns.tsx'
import { useTrigger } from './trigger-panel.tsx'
import type { Trigger } from './trigger-types.ts'
import { type RunPage, useNewestRuns, useRunPage } from './use-runs.ts'

type TriggerRunsProps = { id: string; list: ListSearch }

export function TriggerRuns({ id, list }: TriggerRunsProps): ReactNode {
  const t = useText()
  const { trigger, error, refetch } = useTrigger(id)
  if (trigger !== undefined) return <Runs trigger={trigger} list={list} />
  return (
    <Page title={t('section.triggers')} filters={<BackToList id={id} list={list} />}>
      {error === null ? (
        <Skeleton rows={12} />
      ) : (
        <FailureState failure={describeFailure(error)} onRetry={refetch} />
      )}
    </Page>
  )
}

const BackToList = ({ id, list }: TriggerRunsProps): ReactNode => {
  const t = useText()
  return (
    <Button variant="quiet" size="small" icon="chevronLeft" onPress={() => closeRuns(list, id)}>
      {t('triggers.backToList')}
    </Button>
  )
}

/** The parameters that select the rows. */
const identifyList = ({ search, size, page, after }: ListSearch): string =>
  JSON.stringify([search['env'], search['outcome'], size, page, after])

function Runs({ trigger, list }: { trigger: Trigger; list: ListSearch }): ReactNode {
  const t = useText()
  const { id, name, enabled, nextRuns } = trigger
  const canRun = useMay('triggers.run')
  const newest = useNewestRuns(id)
  const page = useRunPage(list, id)
  const steady = useSteadyRows(page.rows, {
    key: identifyList(list),
    isPlaceholder: page.isPlaceholder,
    isWhole: !page.hasNext,
  })
  const runId = list.search['run'] ?? null
  const open = (next: string | null): void => showRun(list, id, next)
  return (
    <Page
      title={t('triggers.runsOf', name)}
      isEdgeToEdge
      note={<EnabledStatus isEnabled={enabled} />}
      actions={canRun && <RunNow trigger={trigger} onStarted={open} />}
      filters={
        <>
          <BackToList id={id} list={list} />
          <RunFilters list={list} />
          <RunTimeline
            runs={newest.runs ?? []}
            planned={enabled ? (nextRuns[0] ?? null) : null}
            openId={runId}
            onOpen={open}
          />
          {!page.isComplete && page.rows.length > 0 && <Note tone="info">{t('triggers.searchedSome')}</Note>}
        </>
      }
      foot={
        page.isLoaded && (
          <Pager
            page={page.pages.page}
            size={list.size}
            shown={steady.rows.length}
            total={page.total}
            isTotalExact={page.isTotalExact}
            hasNext={page.hasNext}
            onPage={page.pages.goTo}
            onSize={list.setSize}
          />
        )
      }
      panel={
        runId !== null && (
          <RunPanel
            key={runId}
            runId={runId}
            trigger={trigger}
            known={[...page.rows, ...(newest.runs ?? [])]}
            ids={steady.rows.map((row) => row.id)}
            onOpen={open}
          />
        )
      }
    >
      <SteadyRegion steady={steady}>
        <DataTable
          label={t('triggers.runs')}
          columns={useRunColumns()}
          rows={steady.rows}
          goneIds={steady.gone}
          openId={runId}
          onOpen={open}
          placeholder={<Placeholder list={list} page={page} />}
        />
      </SteadyRegion>
    </Page>
  )
}

function Placeholder({ list, page }: { list: ListSearch; page: RunPage }): ReactNode {
  const t = useText()
  if (page.error !== null)
    return <FailureState failure={describeFailure(page.error)} onRetry={page.refetch} />
  if (!page.isLoaded) return <Skeleton rows={12} />
  if (!page.isFiltered && page.pages.page === 1)
    return (
      <State icon="triggers" title={t('triggers.noRuns')}>
        {t('triggers.noRunsHint')}
      </State>
    )
  return (
    <State
      icon="search"
      title={t('triggers.noRunMatch')}
      actions={
        <>
          {page.hasNext && (
            <Button onPress={() => page.pages.goTo(page.pages.page + 1)}>{t('triggers.searchOlder')}</Button>
          )}
          <Button onPress={() => list.setFilter({ outcome: undefined, env: undefined })}>
            {t('app.clearFilters')}
          </Button>
        </>
      }
    >
      {page.isComplete ? t('triggers.noRunMatchHint') : t('triggers.searchedSome')}
    </State>
  )
}
