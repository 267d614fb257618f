// The entries of a report with the decisions about them.
import { type ReactNode, useCallback, useMemo, useState } from 'react'
import { saveCsv } from '../../app/csv.ts'
import { ListPager } from '../../app/list-pager.tsx'
import type { ListSearch } from '../../app/list-search.ts'
import { useSystemMay } from '../../app/use-system-may.ts'
import { Button } from '../../kit/button.tsx'
import { DataTable } from '../../kit/data-table.tsx'
import { Page } from '../../kit/page.tsx'
import { State } from '../../kit/state.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'
import type { Draft } from './attestation.ts'
import { AttestDialog } from './attest-dialog.tsx'
import { BulkBar } from './bulk-bar.tsx'
import { toCsvRows } from './entry-csv.ts'
import { useEntryColumns } from './entry-columns.tsx'
import { EntryPanel } from './entry-panel.tsx'
import { useProjectNames } from './entry-target.ts'
import { ReviewFilters } from './review-filters.tsx'
import { ReviewStatus } from './review-status.tsx'
import { type Review, decide } from './review-store.ts'
import {
  type Progress,
  filterEntries,
  isFiltered,
  noFilters,
  readEntryFilter,
  sortEntries,
} from './select-entries.ts'
import type { Reading } from './use-report.ts'

type OpenReviewProps = {
  scope: string
  review: Review
  list: ListSearch
  reading: Reading
  onReadAgain: () => void
  onStop: () => void
  onClose: () => void
}

/** The decisions of a review, as one value that changes with them. */
export const useProgress = ({ drafts, attestedEntries }: Review): Progress =>
  useMemo(() => ({ drafts, attested: attestedEntries }), [drafts, attestedEntries])

/** Returns the entries of the filter, in the order of the list. */
export function useFound({ report }: Review, list: ListSearch, progress: Progress) {
  const { search, sort } = list
  const { field, direction } = sort ?? { field: '', direction: 'ASC' as const }
  const sorted = useMemo(
    () => sortEntries(report.entries, { field, direction }),
    [report.entries, field, direction],
  )
  return useMemo(() => filterEntries(sorted, readEntryFilter(search), progress), [sorted, search, progress])
}

/** The entries of the page, and the entries that the person has chosen. */
function useRows(scope: string, review: Review, list: ListSearch) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const progress = useProgress(review)
  const found = useFound(review, list, progress)
  const start = (list.page - 1) * list.size
  const shown = useMemo(
    () => found.slice(start, start + list.size).map((entry) => ({ ...entry, id: entry.entry_id })),
    [found, start, list.size],
  )
  const projects = useProjectNames(shown)
  const onDecide = useCallback(
    (ids: readonly string[], draft: Draft | null) => decide(scope, ids, draft),
    [scope],
  )
  const columns = useEntryColumns({ ownId: review.ownerId, progress, onDecide })
  const known = useMemo(() => new Set(review.report.entries.map(({ entry_id }) => entry_id)), [review.report])
  const chosenIds = [...chosen].filter((id) => known.has(id))
  return { progress, found, shown, projects, columns, chosen, chosenIds, setChosen, onDecide }
}

export function OpenReview({ scope, review, list, ...props }: OpenReviewProps): ReactNode {
  const t = useText()
  const mayAttest = useSystemMay('accessReview.attest')
  const [isAttesting, setAttesting] = useState(false)
  const { progress, found, shown, projects, columns, chosen, chosenIds, setChosen, onDecide } = useRows(
    scope,
    review,
    list,
  )
  return (
    <Page
      title={t('section.accessReview')}
      isEdgeToEdge
      actions={
        <ReviewActions
          review={review}
          list={list}
          found={found}
          progress={progress}
          onClose={props.onClose}
          onAttest={mayAttest ? () => setAttesting(true) : null}
        />
      }
      filters={
        <>
          <ReviewStatus review={review} list={list} progress={progress} {...props} />
          <ReviewFilters list={list} />
          {chosenIds.length > 0 && (
            <BulkBar
              ids={chosenIds}
              matching={found.map(({ entry_id }) => entry_id)}
              onChoose={setChosen}
              onDecide={onDecide}
            />
          )}
        </>
      }
      foot={<ListPager list={list} result={{ nodes: shown, totalCount: found.length, isTotalExact: true }} />}
      panel={
        list.open !== null && (
          <EntryPanel
            entry={review.report.entries.find(({ entry_id }) => entry_id === list.open)}
            ids={shown.map(({ id }) => id)}
            list={list}
            progress={progress}
            projects={projects}
            onDecide={onDecide}
          />
        )
      }
    >
      <DataTable
        label={t('review.entries')}
        columns={columns}
        rows={shown}
        sort={list.sort}
        onSort={list.setSort}
        openId={list.open}
        onOpen={list.setOpen}
        selection={{ ids: chosen, onChange: setChosen }}
        placeholder={<NoEntries list={list} />}
      />
      {isAttesting && (
        <AttestDialog
          scope={scope}
          review={review}
          onReadAgain={() => {
            setAttesting(false)
            props.onReadAgain()
          }}
          onClose={() => setAttesting(false)}
        />
      )}
    </Page>
  )
}

type ActionsProps = {
  review: Review
  list: ListSearch
  found: ReturnType<typeof useFound>
  progress: Progress
  onClose: () => void
  onAttest: (() => void) | null
}

function ReviewActions({ review, list, found, progress, onClose, onAttest }: ActionsProps): ReactNode {
  const t = useText()
  const { report_id: id } = review.report
  return (
    <>
      <Button
        variant="quiet"
        icon="close"
        disabledReason={review.drafts.size > 0 ? t('review.closeHint') : null}
        onPress={onClose}
      >
        <span className="wide-text">{t('review.close')}</span>
      </Button>
      <Button
        icon="download"
        onPress={() => {
          saveCsv(`access-review-${id}.csv`, toCsvRows(found, progress))
          showToast(t('app.exported', found.length))
        }}
      >
        <span className="wide-text">{t('app.exportCsv')}</span>
      </Button>
      <Button icon="list" onPress={() => list.setOpen(null, { print: '1' })}>
        <span className="wide-text">{t('app.printView')}</span>
      </Button>
      {onAttest !== null && (
        <Button variant="primary" icon="audit" action="accessReview.attest" onPress={onAttest}>
          {t('review.attest')}
        </Button>
      )}
    </>
  )
}

function NoEntries({ list }: { list: ListSearch }): ReactNode {
  const t = useText()
  if (!isFiltered(list.search))
    return (
      <State icon="members" title={t('review.empty')}>
        {t('review.emptyHint')}
      </State>
    )
  return (
    <State
      icon="search"
      title={t('review.noMatch')}
      actions={<Button onPress={() => list.setFilter(noFilters)}>{t('app.clearFilters')}</Button>}
    >
      {t('review.noMatchHint')}
    </State>
  )
}
