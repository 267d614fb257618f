// The log of the calls through the ESB of one application: filters, the timeline of a month, and the open call.
import './calls.css'
import { type ReactNode, useEffect, useEffectEvent } from 'react'
import { readStored, saveStored } from '../../api/browser-storage.ts'
import { type Failure, describeFailure } from '../../api/failures.ts'
import { useApplicationNames } from '../../app/applications.ts'
import { usePickedApplication } from '../../app/in-project.ts'
import { type ListSearch, useListSearch } from '../../app/list-search.ts'
import { useCan, useProject } from '../../app/project.tsx'
import { Status } from '../../kit/badge.tsx'
import { Button } from '../../kit/button.tsx'
import { Note } from '../../kit/note.tsx'
import { Page } from '../../kit/page.tsx'
import { FailureState, Skeleton, State, useFailureText } from '../../kit/state.tsx'
import { useText } from '../../texts/language.tsx'
import { CallPager } from './call-pager.tsx'
import { CallPanel } from './call-panel.tsx'
import { CallTimeline } from './call-timeline.tsx'
import { CallsExport } from './calls-export.tsx'
import { CallsFilters } from './calls-filters.tsx'
import { CallsTable } from './calls-table.tsx'
import { type CallsRead, useCalls } from './use-calls.ts'

export function CallsPage(): ReactNode {
  const t = useText()
  const canRead = useCan('ESB_AUDIT_READ')
  const { application, isEmpty, failure, retry } = useChosenApplication(canRead)
  if (application !== null) return <CallLog key={application} application={application} />
  return (
    <Page title={t('section.calls')}>
      {!canRead ? (
        <State icon="lock" title={t('failure.notFound')}>
          {t('failure.notFoundHint')}
        </State>
      ) : failure !== null ? (
        <FailureState failure={failure} onRetry={retry} />
      ) : isEmpty ? (
        <State icon="esb" title={t('calls.noApplication')}>
          {t('calls.noApplicationHint')}
        </State>
      ) : (
        <Skeleton rows={12} />
      )}
    </Page>
  )
}

const storageKey = 'svc-console.calls-application'

type Chosen = {
  readonly application: string | null
  readonly isEmpty: boolean
  readonly failure: Failure | null
  readonly retry: () => void
}

/** Returns the application of the address, or the one that the person looked at last, or the first one. */
function useChosenApplication(canRead: boolean): Chosen {
  const { id: project } = useProject()
  const { search } = useListSearch()
  const named = search['application'] ?? null
  const picked = usePickedApplication(canRead ? named : null)
  const names = useApplicationNames()
  const rows = names.data?.rows
  const stored = readStored(`${storageKey}.${project}`)
  const usual = rows?.find(({ id }) => id === stored) ?? rows?.[0]
  const chosen = named === null ? usual?.id : picked.item?.id
  useEffect(() => {
    if (chosen !== undefined) saveStored(`${storageKey}.${project}`, chosen)
  }, [chosen, project])
  const error = named === null ? names.error : picked.error
  return {
    application: canRead ? (chosen ?? null) : null,
    isEmpty: named === null && rows?.length === 0,
    failure: error === null ? null : describeFailure(error),
    retry: () => void names.refetch(),
  }
}

function CallLog({ application }: { application: string }): ReactNode {
  const t = useText()
  const list = useListSearch()
  useRequestLink(list)
  const read = useCalls(list, application)
  return (
    <Page
      title={t('section.calls')}
      isEdgeToEdge
      note={<StaleNote read={read} />}
      actions={<CallsExport application={application} query={read.query} isDisabled={read.isRangeTooLong} />}
      filters={
        <>
          <CallsFilters list={list} application={application} range={read.range} />
          <CallTimeline list={list} application={application} />
          <IncompleteNote read={read} />
        </>
      }
      foot={read.isComplete !== undefined && <CallPager list={list} read={read} />}
      panel={
        list.open !== null && (
          <CallPanel key={list.open} application={application} list={list} calls={read.steady.rows} />
        )
      }
    >
      <CallsTable list={list} read={read} />
    </Page>
  )
}

/** Says beside the title that new calls are missing, because a note above the table would move its rows. */
function StaleNote({ read: { failure, steady, refetch } }: { read: CallsRead }): ReactNode {
  const t = useText()
  const describe = useFailureText()
  if (failure === null || steady.rows.length === 0) return null
  return (
    <span className="calls-stale" role="status">
      <Status kind="warn">{t('calls.stale', describe(failure))}</Status>
      <Button size="small" onPress={refetch}>
        {t('kit.retry')}
      </Button>
    </span>
  )
}

/** Links of other pages can name a request id. It becomes the text of the search field, where the person sees it. */
function useRequestLink({ search, setFilter }: ListSearch): void {
  const { request } = search
  const show = useEffectEvent((id: string) => setFilter({ q: id, request: undefined }))
  useEffect(() => {
    if (request !== undefined) show(request)
  }, [request])
}

/** Says that a page with rows is not complete. Without rows, the table says so. */
function IncompleteNote({ read: { isComplete, steady, hasNext, pages } }: { read: CallsRead }): ReactNode {
  const t = useText()
  if (isComplete !== false || steady.rows.length === 0) return null
  return (
    <div className="calls-note">
      <Note
        tone="info"
        actions={
          hasNext && (
            <Button size="small" onPress={() => pages.goTo(pages.page + 1)}>
              {t('calls.searchOlder')}
            </Button>
          )
        }
      >
        {t('calls.incomplete')}
      </Note>
    </div>
  )
}
